// Sorting more fixed-size records than memory holds: sorted runs in temporary files, merged while they are read.
//
//   ExternalSorter<Record, Less> sorter(folder, bytes, less);
//   sorter.push(record); ...
//   sorter.finish();                      // after the last push
//   while (const Record* next = sorter.next()) ...
//
// Records must be trivially copyable. Runs are unlinked as soon as they are open, so nothing stays behind after a
// crash. However small the memory, no more than kMaxRuns files are open: when there are so many, they become one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <queue>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/parallel.hh"

namespace treeglot {

// An anonymous temporary file in a folder: gone when closed. It is written, then rewound and read, as often as needed;
// what was written and cannot be read again is an error, never the end of the data.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& folder);
  explicit TemporaryFile(std::FILE* file) : file_(file) {}
  TemporaryFile(TemporaryFile&&) = default;
  TemporaryFile& operator=(TemporaryFile&&) = default;

  void write(const void* data, std::size_t bytes) {
    if (bytes == 0) return;  // an empty vector's data may be null, which fwrite forbids
    if (std::fwrite(data, 1, bytes, file_.get()) != bytes) {
      throw std::runtime_error("cannot write a temporary file (is the disk full?)");
    }
    size_ += bytes;
  }
  // Reads `bytes`, or what is left; returns how many.
  std::size_t read(void* data, std::size_t bytes);
  void rewind();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t size_ = 0, left_ = 0;  // bytes written, and of them those not yet read
};

// Reads records from a temporary file through a small buffer.
template <class Record>
class RecordReader {
 public:
  explicit RecordReader(TemporaryFile file, std::size_t buffer_records = 4096) : file_(std::move(file)) {
    file_.rewind();
    buffer_.resize(buffer_records);
  }
  const Record* next() {
    if (position_ == filled_) {
      filled_ = file_.read(buffer_.data(), buffer_.size() * sizeof(Record)) / sizeof(Record);
      position_ = 0;
      if (filled_ == 0) return nullptr;
    }
    return &buffer_[position_++];
  }

 private:
  TemporaryFile file_;
  std::vector<Record> buffer_;
  std::size_t position_ = 0, filled_ = 0;
};

// Sorts with several threads: halves, then a merge. Equal records may end in any order.
template <class Iterator, class Less>
void parallel_sort(Iterator first, Iterator last, Less less, int threads) {
  if (threads < 2 || last - first < (1 << 14)) {
    std::sort(first, last, less);
    return;
  }
  Iterator middle = first + (last - first) / 2;
  for_each_piece(2, 2, [&] {
    return [&](std::size_t half) {
      if (half == 0) {
        parallel_sort(first, middle, less, threads - threads / 2);
      } else {
        parallel_sort(middle, last, less, threads / 2);
      }
    };
  });
  std::inplace_merge(first, middle, last, less);
}

template <class Record, class Less>
class ExternalSorter {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  static constexpr std::size_t kMaxRuns = 128;

  ExternalSorter(std::string folder, std::size_t memory_bytes, Less less, int threads = 1)
      : folder_(std::move(folder)),
        capacity_(std::max<std::size_t>(memory_bytes / sizeof(Record), 1024)),
        less_(less),
        threads_(threads) {}

  void push(const Record& record) {
    if (block_.size() == capacity_) spill();
    block_.push_back(record);
  }

  void finish() {
    if (files_.empty()) {
      parallel_sort(block_.begin(), block_.end(), less_, threads_);
      return;
    }
    if (!block_.empty()) spill();
    block_ = {};
    open_runs();
  }

  // The next record in order, valid until the following call; nullptr at the end.
  const Record* next() {
    if (runs_.empty()) return position_ < block_.size() ? &block_[position_++] : nullptr;
    if (heap_.empty()) return nullptr;
    Head head = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), heap_less());
    heap_.pop_back();
    current_ = head.record;
    advance(head.run);
    return &current_;
  }

  // How many sorted runs went to disk (0: all fitted in memory). Valid after finish().
  std::size_t runs() const { return runs_.size(); }

 private:
  struct Head {
    Record record;
    std::size_t run;
  };
  auto heap_less() const {
    return [this](const Head& a, const Head& b) {
      if (less_(b.record, a.record)) return true;
      return !less_(a.record, b.record) && b.run < a.run;
    };
  }
  void advance(std::size_t run) {
    if (const Record* record = runs_[run].next()) {
      heap_.push_back({*record, run});
      std::push_heap(heap_.begin(), heap_.end(), heap_less());
    }
  }
  void open_runs() {
    std::size_t buffer = std::clamp<std::size_t>(capacity_ / files_.size(), 64, 1 << 16);
    for (TemporaryFile& file : files_) runs_.emplace_back(std::move(file), buffer);
    files_.clear();
    for (std::size_t i = 0; i < runs_.size(); ++i) advance(i);
  }
  void spill() {
    parallel_sort(block_.begin(), block_.end(), less_, threads_);
    files_.emplace_back(folder_);
    files_.back().write(block_.data(), block_.size() * sizeof(Record));
    block_.clear();
    if (files_.size() == kMaxRuns) merge_runs();
  }
  void merge_runs() {
    block_ = {};  // its memory goes to the buffers of the runs
    open_runs();
    TemporaryFile merged(folder_);
    while (const Record* record = next()) merged.write(record, sizeof *record);
    runs_.clear();
    files_.push_back(std::move(merged));
  }

  std::string folder_;
  std::size_t capacity_;
  Less less_;
  int threads_;
  std::vector<Record> block_;
  std::size_t position_ = 0;
  std::vector<TemporaryFile> files_;
  std::vector<RecordReader<Record>> runs_;
  std::vector<Head> heap_;
  Record current_{};
};

}  // namespace treeglot
