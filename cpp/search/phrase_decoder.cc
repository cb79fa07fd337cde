#include "search/phrase_decoder.hh"

#include <algorithm>
#include <optional>
#include <string_view>

#include "search/phrase_search.hh"

namespace treeglot::search {

class PhraseDecoder::PhraseWorker : public Decoder::Worker {
 public:
  explicit PhraseWorker(const PhraseDecoder& decoder)
      : owner_(decoder), cache_(decoder.builder_.table(), decoder.builder_.most(), false) {
    search_.emplace(owner_.grammar_, owner_.builder_, cache_, owner_.model_, owner_.limits_);
  }

  void weights_changed() override {
    cache_.weights_changed();
    search_.emplace(owner_.grammar_, owner_.builder_, cache_, owner_.model_, owner_.limits_);
  }

  Translation translate(const ParsedCorpus& corpus, std::size_t n, const NBestRequest& request,
                        bool with_steps) override {
    words_.clear();
    for (WordId id : corpus[n].words) words_.push_back(corpus.words.word(id));
    return search_->run(words_, request, with_steps);
  }

 private:
  const PhraseDecoder& owner_;
  PhraseOptionCache cache_;
  std::optional<PhraseSearch> search_;
  std::vector<std::string_view> words_;
};

PhraseDecoder::PhraseDecoder(const PhraseSource& table, const std::string& grammar, const lm::Model& model,
                             const std::vector<double>& weights, const DecoderLimits& limits)
    : grammar_(grammar), model_(model), limits_(limits), builder_(table, model, limits.table_limit) {
  start(phrase_features(grammar), weights);
}

PhraseDecoder::~PhraseDecoder() { drop_workers(); }

void PhraseDecoder::weights_changed() {
  Weights weights;
  std::copy(current_weights().begin(), current_weights().end(), weights.begin());
  builder_.set_weights(weights);
}

std::unique_ptr<Decoder::Worker> PhraseDecoder::make_worker() const { return std::make_unique<PhraseWorker>(*this); }

}  // namespace treeglot::search
