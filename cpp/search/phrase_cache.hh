// The option cache of both searches: what a phrase table says about a source phrase is read once, and the options that
// a search makes of it under the current weights are kept beside it. After new weights they are scored again from what
// was read. One for each thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "base/hash.hh"
#include "table/phrase_source.hh"

namespace treeglot::search {

// `List`: the options of a search, default-constructed for a phrase that was just read.
template <class List>
class PhraseCache {
 public:
  struct Entry {
    PhraseMatches matches;  // as in the table
    List list;
    std::uint64_t version = 0;  // of the weights that `list` was made with; 0: not made yet
  };

  // Looks at `most` translations of a phrase. With `misses` also phrases that the table does not have are remembered:
  // for searches that ask for few of them, but often. The table must outlive this.
  PhraseCache(const PhraseSource& table, std::size_t most, bool misses) : table_(table), most_(most), misses_(misses) {}

  const PhraseSource& table() const { return table_; }
  // The number of translations held (and phrases missed).
  std::size_t size() const { return size_; }
  void clear() {
    entries_.clear();
    size_ = 0;
  }
  void weights_changed() { ++version_; }

  // The entry of a source phrase that was asked for before, nullptr if it is not there.
  const Entry* find(std::span<const WordId> source) {
    key_.assign(source.begin(), source.end());
    auto place = entries_.find(key_);
    return place == entries_.end() ? nullptr : place->second.get();
  }

  // The entry of a source phrase, nullptr if the table has none. `score(matches, list)` makes or renews its list.
  template <class Score>
  const Entry* get(std::span<const WordId> source, Score&& score) {
    key_.assign(source.begin(), source.end());
    auto place = entries_.find(key_);
    if (place == entries_.end()) {
      if (!spare_) spare_ = std::make_unique<Entry>();
      spare_->matches.clear();
      table_.lookup(source, spare_->matches, most_);
      const bool hit = spare_->matches.size() > 0;
      if (!hit && !misses_) return nullptr;
      size_ += std::max<std::size_t>(spare_->matches.size(), 1);
      place = entries_.emplace(key_, hit ? std::move(spare_) : nullptr).first;
    }
    Entry* entry = place->second.get();
    if (entry && entry->version != version_) {
      score(entry->matches, entry->list);
      entry->version = version_;
    }
    return entry;
  }

 private:
  struct Hash {
    std::size_t operator()(const std::u32string& words) const {
      return hash_bytes(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(char32_t));
    }
  };

  const PhraseSource& table_;
  const std::size_t most_;
  const bool misses_;
  std::uint64_t version_ = 1;
  std::size_t size_ = 0;
  std::unordered_map<std::u32string, std::unique_ptr<Entry>, Hash> entries_;
  std::u32string key_;
  std::unique_ptr<Entry> spare_;  // for the next lookup
};

}  // namespace treeglot::search
