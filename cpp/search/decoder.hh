// One interface for all decoders: parsed sentences and weights in, translations out.
//
// There are two searches behind it. The forest (forest/decoder.hh) is what grammars add edges to, and its search sees
// nothing but the forest. The left-to-right phrase search (phrase_decoder.hh) is a search of its own, because
// distortion and lexicalised reordering are not functions of a forest: what a phrase costs depends on which source
// words were translated just before it and which are still open, and that is a state of the search (a coverage of the
// source), not a node over neighbouring words. It shares tables, language model, option cache, result types and feature
// names with the forest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "search/translation.hh"
#include "trees/parsed_corpus.hh"

namespace treeglot::search {

class Decoder {
 public:
  using Progress = std::function<void(std::size_t)>;

  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Names in the order of feature vectors and weights.
  const std::vector<std::string>& features() const { return features_; }
  std::vector<double> weights() const;

  // New weights for what is translated from now on; waits for calls of translate() that are under way. Tables,
  // vocabularies and all that was read from them stay; what depends on weights is scored again when it is used. Throws
  // std::invalid_argument if there are not as many as features.
  void set_weights(std::vector<double> weights);

  // Translates sentences [first, last). The result does not depend on `threads` (0: all cores) nor on what was
  // translated before. With `with_steps` false derivations have no steps. `progress`, if given, is called now and then
  // in the calling thread; it may throw to stop. May be called from several threads at once.
  std::vector<Translation> translate(const ParsedCorpus& corpus, std::size_t first, std::size_t last,
                                     const NBestRequest& request, bool with_steps, int threads,
                                     const Progress& progress = {});

 protected:
  // What one thread needs, with its caches: kept from sentence to sentence and from call to call.
  class Worker {
   public:
    virtual ~Worker() = default;
    virtual Translation translate(const ParsedCorpus& corpus, std::size_t n, const NBestRequest& request,
                                  bool with_steps) = 0;
    virtual void weights_changed() = 0;
  };

  // The names and weights must be given before anything is translated.
  Decoder() = default;
  void start(std::vector<std::string> features, std::vector<double> weights);

  virtual std::unique_ptr<Worker> make_worker() const = 0;
  // Before workers are told of new weights.
  virtual void weights_changed() {}
  const std::vector<double>& current_weights() const { return weights_; }
  // For destructors: workers may refer to members of the derived class.
  void drop_workers() { idle_.clear(); }

 private:
  struct Idle {
    std::unique_ptr<Worker> worker;
    std::uint64_t version;  // of the weights that it knows
  };
  Idle take_worker();

  std::vector<std::string> features_;
  std::vector<double> weights_;
  std::uint64_t version_ = 0;
  mutable std::shared_mutex weights_lock_;  // shared while translating
  std::mutex idle_lock_;
  std::vector<Idle> idle_;
};

}  // namespace treeglot::search
