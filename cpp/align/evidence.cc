#include "align/evidence.hh"

#include <algorithm>
#include <stdexcept>

#include "align/model.hh"
#include "align/sampler.hh"
#include "align/trainer.hh"

namespace treeglot::align {
namespace {

constexpr double kJumpsOfModel = 1000;  // that its weights count for, at weight 1

}  // namespace

std::optional<Evidence::Links> Evidence::links(std::size_t pair) const {
  const auto place = std::lower_bound(known.begin(), known.end(), pair);
  if (place == known.end() || *place != pair) return std::nullopt;
  const auto k = static_cast<std::size_t>(place - known.begin());
  return Links{known_links.data() + known_starts[k], known_links.data() + known_starts[k + 1]};
}

void Evidence::add_links(const Corpus& corpus, std::size_t pair, std::vector<WordLink> links) {
  if (pair >= corpus.size() || (!known.empty() && pair <= known.back()))
    throw std::invalid_argument("no such sentence pair");
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  for (const WordLink& link : links) {
    if (link.source >= corpus.source_length(pair) || link.target >= corpus.target_length(pair))
      throw std::invalid_argument("a link outside of its sentences");
  }
  known.push_back(pair);
  known_links.insert(known_links.end(), links.begin(), links.end());
  known_starts.push_back(known_links.size());
}

// A chance is a count with its prior by a total, and the chance of what was never seen is the prior by the same total.
void Evidence::add_model(Corpus& corpus, const Model& model, const ModelPriors& priors, float weight) {
  std::vector<WordId> sources, targets;
  for (std::size_t w = 0; w < model.source_size(); ++w) sources.push_back(corpus.source_words.id(model.source_word(w)));
  for (std::size_t w = 0; w < model.target_size(); ++w) targets.push_back(corpus.target_words.id(model.target_word(w)));
  auto count = [&](float chance, float unseen) { return std::max(0.0f, (chance / unseen - 1) * priors.translations); };
  for (const Model::Entry& entry : model.entries(0)) {
    const float there = weight * count(entry.target_given_source, model.source_unseen(entry.source)),
                back = weight * count(entry.source_given_target, model.target_unseen(entry.target));
    if (there > 0 || back > 0) pairs.push_back({sources[entry.source], targets[entry.target], there, back});
  }
  auto add = [&](const std::vector<WordId>& words, const float* null, const float* fertilities,
                 std::vector<float>& from_nothing, std::vector<float>& fertility) {
    const std::size_t last = words.size();  // the entry of unknown words
    for (std::size_t w = 0; w < last; ++w) {
      const std::size_t at = words[w];
      if (from_nothing.size() <= at) from_nothing.resize(at + 1, 0.0f);
      from_nothing[at] += weight * count(null[w], null[last]);
      if (!fertilities) continue;
      if (fertility.size() < (at + 1) * kFertilities) fertility.resize((at + 1) * kFertilities, 0.0f);
      for (std::size_t f = 0; f < kFertilities; ++f) {
        const float mean = priors.fertilities * fertilities[last * kFertilities + f];
        fertility[at * kFertilities + f] += weight * std::max(0.0f, fertilities[w * kFertilities + f] - mean);
      }
    }
  };
  add(sources, model.source_null(), model.source_fertility(), source_from_nothing, source_fertility);
  add(targets, model.target_null(), model.target_fertility(), target_from_nothing, target_fertility);
  forward = model.forward_jumps();
  reverse = model.reverse_jumps();
  jumps = kJumpsOfModel * static_cast<double>(weight);
}

void Evidence::join() {
  auto key = [](const Pair& pair) { return static_cast<std::uint64_t>(pair.source) << 32 | pair.target; };
  std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) { return key(a) < key(b); });
  std::size_t size = 0;
  for (const Pair& pair : pairs) {
    if (size > 0 && key(pairs[size - 1]) == key(pair)) {
      pairs[size - 1].target_given_source += pair.target_given_source;
      pairs[size - 1].source_given_target += pair.source_given_target;
    } else {
      pairs[size++] = pair;
    }
  }
  pairs.resize(size);
}

}  // namespace treeglot::align
