#include "search/phrase_decoder.hh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

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
  std::size_t workers =
      threads > 0 ? static_cast<std::size_t>(threads) : std::max(1u, std::thread::hardware_concurrency());
  workers = std::min(workers, sentences.size());
  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  std::mutex failure_lock;
  auto work = [&](bool report) {
    try {
      PhraseSearch search(*builder_, model_, weights_, limits_);
      auto last = std::chrono::steady_clock::now();
      for (std::size_t i; !stop && (i = next++) < sentences.size();) {
        results[i] = search.run(sentences[i], nbest);
        ++done;
        if (report && progress && std::chrono::steady_clock::now() - last > std::chrono::milliseconds(100)) {
          progress(done);
          last = std::chrono::steady_clock::now();
        }
      }
    } catch (...) {
      stop = true;
      std::lock_guard guard(failure_lock);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  for (std::size_t i = 1; i < workers; ++i) pool.emplace_back(work, false);
  work(true);
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
  if (progress) progress(done);
  return results;
}

}  // namespace treeglot::search
