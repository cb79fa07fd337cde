#include "search/decoder.hh"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>

using namespace treeglot;
using namespace treeglot::search;

namespace {

// Its score of a sentence is its weight; it counts its workers and what they are told.
class CountingDecoder : public Decoder {
 public:
  CountingDecoder() { start({"a", "b"}, {1, 2}); }
  ~CountingDecoder() override { drop_workers(); }

  mutable std::atomic<int> workers = 0, told = 0;
  int noted = 0;
  std::size_t fails_at = 1000;

 protected:
  class CountingWorker : public Worker {
   public:
    explicit CountingWorker(const CountingDecoder& decoder) : owner_(decoder), weight_(owner_.current_weights()[0]) {}
    Translation translate(const ParsedCorpus&, std::size_t n, const NBestRequest& request, bool with_steps) override {
      if (n == owner_.fails_at) throw std::runtime_error("damaged");
      Translation result;
      result.derivations.resize(static_cast<std::size_t>(request.size));
      for (Derivation& derivation : result.derivations) {
        derivation.score = weight_;
        derivation.text = std::to_string(n);
        if (with_steps) derivation.steps.resize(1);
      }
      return result;
    }
    void weights_changed() override {
      ++owner_.told;
      weight_ = owner_.current_weights()[0];
    }

   private:
    const CountingDecoder& owner_;
    double weight_;
  };
  std::unique_ptr<Worker> make_worker() const override {
    ++workers;
    return std::make_unique<CountingWorker>(*this);
  }
  void weights_changed() override { ++noted; }
};

ParsedCorpus sentences(int count) {
  ParsedCorpus corpus;
  const std::string_view word[1] = {"w"}, tag[1] = {"T"};
  for (int i = 0; i < count; ++i) corpus.add(word, tag, {}, {});
  return corpus;
}

}  // namespace

BOOST_AUTO_TEST_CASE(workers_stay_from_call_to_call_and_hear_of_new_weights_once) {
  CountingDecoder decoder;
  const ParsedCorpus corpus = sentences(20);
  for (int round = 1; round <= 3; ++round) {
    decoder.set_weights({10.0 * round, 0});
    for (int call = 0; call < 2; ++call) {
      const std::vector<Translation> results = decoder.translate(corpus, 5, 15, {2, false}, call == 0, 1);
      BOOST_REQUIRE(results.size() == 10u);
      for (std::size_t i = 0; i < results.size(); ++i) {
        BOOST_REQUIRE(results[i].derivations.size() == 2u);
        BOOST_TEST(results[i].derivations[0].score == 10.0 * round);
        BOOST_TEST(results[i].derivations[0].text == std::to_string(5 + i));
        BOOST_TEST(results[i].derivations[1].steps.size() == (call == 0 ? 1u : 0u));
      }
    }
  }
  BOOST_TEST(decoder.workers == 1);
  BOOST_TEST(decoder.told == 2);   // the worker was made after the first weights
  BOOST_TEST(decoder.noted == 4);  // the decoder heard of all
  decoder.set_weights(decoder.weights());
  BOOST_TEST(decoder.noted == 4);
}

BOOST_AUTO_TEST_CASE(a_worker_that_failed_is_not_used_again) {
  CountingDecoder decoder;
  const ParsedCorpus corpus = sentences(5);
  decoder.fails_at = 3;
  BOOST_CHECK_THROW(decoder.translate(corpus, 0, 5, {}, false, 1), std::runtime_error);
  decoder.fails_at = 1000;
  BOOST_TEST(decoder.translate(corpus, 0, 5, {}, false, 1).size() == 5u);
  BOOST_TEST(decoder.workers == 2);
}

BOOST_AUTO_TEST_CASE(wrong_numbers_are_refused) {
  CountingDecoder decoder;
  const ParsedCorpus corpus = sentences(2);
  BOOST_CHECK_THROW(decoder.set_weights({1}), std::invalid_argument);
  BOOST_CHECK_THROW(decoder.translate(corpus, 0, 3, {}, false, 1), std::out_of_range);
  BOOST_CHECK_THROW(decoder.translate(corpus, 2, 1, {}, false, 1), std::out_of_range);
  BOOST_TEST(decoder.translate(corpus, 1, 1, {}, false, 1).empty());
}
