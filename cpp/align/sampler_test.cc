#include "align/sampler.hh"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <random>

namespace al = treeglot::align;
using treeglot::WordId;

namespace {

// A small sentence with weights of its own, and the logarithm of the weight of all its links, from the definition.
struct Sentence {
  std::vector<WordId> states, observed;
  std::vector<std::vector<float>> lexical, fertility;  // observed by states; states by number of words
  std::vector<float> totals, null;
  float null_total = 1, null_chance = 0.2f, bonus = 3;
  std::vector<std::uint16_t> links, other;
  al::JumpTable jumps;
  std::vector<float> paths;  // states by states, if there is a tree
  bool counting = false;
  float prior = 0.3f;  // of each lexical count, when counting

  double log_weight(const std::vector<std::uint16_t>& chosen) const {
    double result = 0;
    int last = 0;
    auto step = [&](int to) {
      double sum = 0;
      for (std::size_t i = 1; i <= states.size(); ++i) sum += jumps.at(static_cast<int>(i) - last);
      result += std::log(jumps.at(to - last) / sum);
      const int I = static_cast<int>(states.size());
      if (!paths.empty() && last > 0 && to <= I)
        result += std::log(paths[static_cast<std::size_t>((last - 1) * I + to - 1)]);
      last = to;
    };
    std::vector<int> words(states.size(), 0);
    std::map<std::pair<WordId, WordId>, int> pairs;
    std::map<WordId, int> sums, nothing;
    int null_sum = 0;
    for (std::size_t j = 0; j < observed.size(); ++j) {
      if (chosen[j] == 0) {
        result += std::log(null_chance);
        // The chance of one more of what was drawn before: counts grow as they are used.
        const float extra = counting ? static_cast<float>(nothing[observed[j]]++) : 0;
        const float all = counting ? static_cast<float>(null_sum++) : 0;
        result += std::log((null[j] + extra) / (null_total + all));
        continue;
      }
      const std::size_t i = chosen[j] - 1u;
      step(chosen[j]);
      ++words[i];
      const float extra = counting ? static_cast<float>(pairs[{states[i], observed[j]}]++) : 0;
      const float all = counting ? static_cast<float>(sums[states[i]]++) : 0;
      result += std::log((1 - null_chance) * (lexical[j][i] + extra) / (totals[i] + all));
      if (other[i] == j + 1) result += std::log(bonus);
    }
    step(static_cast<int>(states.size()) + 1);
    for (std::size_t i = 0; i < states.size(); ++i) {
      result += std::log(fertility[i][static_cast<std::size_t>(std::min(words[i], al::kFertilities - 1))]);
      if (words[i] >= al::kFertilities) result += std::log(al::kBeyond) * (words[i] - al::kFertilities + 1);
    }
    return result;
  }
};

Sentence random_sentence(std::mt19937& random, std::size_t states, std::size_t observed, bool counting,
                         bool with_paths = false) {
  std::uniform_real_distribution<float> uniform(0.05f, 1.0f);
  Sentence s;
  s.counting = counting;
  for (std::size_t i = 0; i < states; ++i) s.states.push_back(random() % 3);
  for (std::size_t j = 0; j < observed; ++j) s.observed.push_back(random() % 3);
  for (float& weight : s.jumps.weight) weight = uniform(random);
  for (std::size_t k = 0; with_paths && k < states * states; ++k) s.paths.push_back(3 * uniform(random));
  // Equal words have equal weights.
  std::map<std::pair<WordId, WordId>, float> weights;
  std::map<WordId, float> totals, null;
  for (WordId e : s.states) totals[e] = 2 + uniform(random);
  for (WordId f : s.observed) null[f] = uniform(random);
  s.null_total = 5;
  for (std::size_t j = 0; j < observed; ++j) {
    s.lexical.emplace_back();
    for (WordId e : s.states) {
      auto entry = weights.emplace(std::pair{e, s.observed[j]}, uniform(random)).first;
      s.lexical.back().push_back(entry->second);
    }
    s.null.push_back(null[s.observed[j]]);
    s.links.push_back(static_cast<std::uint16_t>(random() % (states + 1)));
  }
  for (std::size_t i = 0; i < states; ++i) {
    s.totals.push_back(totals[s.states[i]]);
    s.fertility.emplace_back();
    for (int f = 0; f < al::kFertilities; ++f) s.fertility.back().push_back(uniform(random));
    s.other.push_back(static_cast<std::uint16_t>(random() % (observed + 1)));
  }
  return s;
}

// Hands a sentence over; counts contain its links then.
void begin(const Sentence& s, const al::JumpRows& rows, al::SentenceSampler& sampler, std::vector<float>& room) {
  const std::size_t I = s.states.size(), J = s.observed.size();
  sampler.resize(static_cast<int>(I), static_cast<int>(J));
  sampler.links = s.links;
  sampler.other_links = s.other;
  sampler.totals = s.totals;
  sampler.null = s.null;
  sampler.null_total = s.null_total;
  std::vector<int> words(I, 0);
  for (std::size_t j = 0; j < J; ++j)
    std::copy(s.lexical[j].begin(), s.lexical[j].end(), sampler.lexical(static_cast<int>(j)));
  for (std::size_t j = 0; j < J; ++j) {
    if (s.links[j] != 0) ++words[s.links[j] - 1u];
    if (!s.counting) continue;
    if (s.links[j] == 0) {
      sampler.null_total += 1;
      for (std::size_t m = 0; m < J; ++m) sampler.null[m] += s.observed[m] == s.observed[j] ? 1 : 0;
      continue;
    }
    for (std::size_t i = 0; i < I; ++i) {
      if (s.states[i] != s.states[s.links[j] - 1u]) continue;
      sampler.totals[i] += 1;
      for (std::size_t m = 0; m < J; ++m)
        if (s.observed[m] == s.observed[j]) sampler.lexical(static_cast<int>(m))[i] += 1;
    }
  }
  for (std::size_t i = 0; i < I; ++i) {
    std::copy(s.fertility[i].begin(), s.fertility[i].end(), sampler.fertility(static_cast<int>(i)));
    if (s.counting) sampler.fertility(static_cast<int>(i))[std::min(words[i], al::kFertilities - 1)] += 1;
  }
  if (!s.paths.empty()) {
    const std::size_t stride = sampler.stride();
    room.assign(2 * I * stride, 0.0f);
    for (std::size_t a = 0; a < I; ++a) {
      for (std::size_t b = 0; b < I; ++b) room[a * stride + b] = room[(I + b) * stride + a] = s.paths[a * I + b];
    }
    sampler.paths = room.data();
    sampler.paths_back = room.data() + I * stride;
  }
  sampler.begin(rows, s.null_chance, s.bonus, s.counting ? s.states.data() : nullptr,
                s.counting ? s.observed.data() : nullptr);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampler)

// The chances of each draw are those of the definition, given the words drawn before and the old links after.
BOOST_AUTO_TEST_CASE(chances_equal_the_definition) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const Sentence s = random_sentence(random, 1 + random() % 11, 1 + random() % 12, round % 2 == 1, round % 3 == 0);
    const std::size_t I = s.states.size(), J = s.observed.size();
    al::JumpRows rows;
    rows.fill(s.jumps, static_cast<int>(I) + round % 3);
    al::SentenceSampler sampler;
    std::vector<float> room;
    begin(s, rows, sampler, room);
    std::vector<std::uint16_t> now = s.links;
    for (std::uint64_t sweep = 0; sweep < 3; ++sweep) {
      std::vector<float> sums((I + 1) * J, 0.0f);
      sampler.sweep(sweep, sums.data());
      for (std::size_t j = 0; j < J; ++j) {
        std::vector<double> weights;
        for (std::size_t i = 0; i <= I; ++i) {
          now[j] = static_cast<std::uint16_t>(i);
          weights.push_back(std::exp(s.log_weight(now)));
        }
        double sum = 0;
        for (double weight : weights) sum += weight;
        for (std::size_t i = 0; i <= I; ++i)
          BOOST_TEST(static_cast<double>(sums[j * (I + 1) + i]) == weights[i] / sum,
                     boost::test_tools::tolerance(2e-3));
        now[j] = sampler.links[j];
      }
    }
  }
}

// Draws in the long run: every link as often as in the enumeration of all alignments.
BOOST_AUTO_TEST_CASE(draws_equal_enumeration) {
  std::mt19937 random(9);
  for (bool counting : {false, true}) {
    const Sentence s = random_sentence(random, 3, 4, counting, counting);
    const std::size_t I = 3, J = 4;
    std::vector<double> expected((I + 1) * J, 0.0);
    double total = 0;
    for (std::size_t code = 0; code < 256; ++code) {
      std::vector<std::uint16_t> links;
      for (std::size_t j = 0, rest = code; j < J; ++j, rest /= 4) links.push_back(static_cast<std::uint16_t>(rest % 4));
      const double weight = std::exp(s.log_weight(links));
      total += weight;
      for (std::size_t j = 0; j < J; ++j) expected[j * (I + 1) + links[j]] += weight;
    }
    al::JumpRows rows;
    rows.fill(s.jumps, 3);
    al::SentenceSampler sampler;
    std::vector<float> room;
    begin(s, rows, sampler, room);
    constexpr int kSweeps = 40000;
    std::vector<float> sums(expected.size(), 0.0f);
    std::vector<double> drawn(expected.size(), 0.0);
    for (std::uint64_t sweep = 0; sweep < kSweeps; ++sweep) {
      sampler.sweep(al::random_bits(17, sweep), sums.data());
      for (std::size_t j = 0; j < J; ++j) drawn[j * (I + 1) + sampler.links[j]] += 1;
    }
    for (std::size_t k = 0; k < expected.size(); ++k) {
      BOOST_TEST(std::abs(static_cast<double>(sums[k]) / kSweeps - expected[k] / total) < 0.01);
      BOOST_TEST(std::abs(drawn[k] / kSweeps - expected[k] / total) < 0.015);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
