#include "search/phrase_decoder.hh"

#include "base/parallel.hh"
#include "search/phrase_search.hh"

namespace treeglot::search {

PhraseDecoder::PhraseDecoder(const PhraseSource& table, const lm::Model& model, const Weights& weights,
                             const DecoderLimits& limits)
    : model_(model),
      weights_(weights),
      limits_(limits),
      builder_(std::make_unique<OptionBuilder>(table, model, weights, limits.table_limit)) {}

PhraseDecoder::~PhraseDecoder() = default;

std::vector<Translation> PhraseDecoder::translate(const std::vector<std::string>& sentences, const NBest& nbest,
                                                  int threads, const std::function<void(std::size_t)>& progress) const {
  std::vector<Translation> results(sentences.size());
  for_each_piece(
      sentences.size(), threads,
      [&] {
        return [&, search = std::make_shared<PhraseSearch>(*builder_, model_, weights_, limits_)](std::size_t i) {
          results[i] = search->run(sentences[i], nbest);
        };
      },
      progress);
  return results;
}

}  // namespace treeglot::search
