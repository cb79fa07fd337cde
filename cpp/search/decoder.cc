#include "search/decoder.hh"

#include <cmath>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/parallel.hh"

namespace treeglot::search {

namespace {

void check(const std::vector<std::string>& features, const std::vector<double>& weights) {
  if (weights.size() != features.size()) throw std::invalid_argument("not as many weights as features");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i])) throw std::invalid_argument("the weight of " + features[i] + " is not finite");
  }
}

// The decoder that this thread translates with: what it calls back may not change its weights, for which it waits.
thread_local const Decoder* busy = nullptr;

class Busy {
 public:
  explicit Busy(const Decoder* decoder) : outer_(busy) { busy = decoder; }
  Busy(const Busy&) = delete;
  ~Busy() { busy = outer_; }

 private:
  const Decoder* outer_;
};

}  // namespace

void Decoder::start(std::vector<std::string> features, std::vector<double> weights) {
  check(features, weights);
  features_ = std::move(features);
  weights_ = std::move(weights);
  weights_changed();
}

std::vector<double> Decoder::weights() const {
  std::shared_lock guard(weights_lock_);
  return weights_;
}

void Decoder::set_weights(std::vector<double> weights) {
  check(features_, weights);
  if (busy == this) throw std::runtime_error("the weights cannot be changed by what is called while it translates");
  std::unique_lock guard(weights_lock_);
  if (weights == weights_) return;
  weights_ = std::move(weights);
  ++version_;
  weights_changed();
}

Decoder::Idle Decoder::take_worker() {
  Idle taken{nullptr, version_};
  {
    std::lock_guard guard(idle_lock_);
    if (!idle_.empty()) {
      taken = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!taken.worker) taken.worker = make_worker();
  if (taken.version != version_) {
    taken.worker->weights_changed();
    taken.version = version_;
  }
  return taken;
}

std::vector<Translation> Decoder::translate(const ParsedCorpus& corpus, std::size_t first, std::size_t last,
                                            const NBestRequest& request, bool with_steps, int threads,
                                            const Progress& progress) {
  if (first > last || last > corpus.size()) throw std::out_of_range("no such sentences");
  if (request.size < 1) throw std::invalid_argument("an n-best list has one translation or more");
  const Busy translating(this);
  std::shared_lock guard(weights_lock_);
  std::vector<Translation> results(last - first);
  // Gives a worker back when its thread is done, but not one that failed in the middle of something.
  struct Borrowed {
    Borrowed(Decoder& decoder) : owner(decoder), taken(decoder.take_worker()) {}
    ~Borrowed() {
      if (!taken.worker) return;
      try {
        std::lock_guard guard(owner.idle_lock_);
        owner.idle_.push_back(std::move(taken));
      } catch (const std::bad_alloc&) {  // the next one has to be made anew
      }
    }
    Decoder& owner;
    Idle taken;
  };
  for_each_piece(
      results.size(), threads,
      [&] {
        return [&, borrowed = std::make_shared<Borrowed>(*this)](std::size_t i) {
          try {
            results[i] = borrowed->taken.worker->translate(corpus, first + i, request, with_steps);
          } catch (...) {
            borrowed->taken.worker.reset();
            throw;
          }
        };
      },
      progress);
  return results;
}

}  // namespace treeglot::search
