// The file format of a rule table, shared by its writer and its reader.
//
// Parts in this order: header; strings of source words, categories and target words, sorted by bytes; source and target
// symbols by frequency; the rules, source by source; the index of prefixes; what the index could not tell apart.
//
// A source: varints of its length, its symbols (as ranks), its total (as a count code), its number of rules; then the
// rules. A rule: varints of twice its length, 1 more if some of its source words have no link, and then how many; its
// symbols (as ranks), its count, its target's total, -ln of both lexical weights in steps of kStep; with kDiscounted,
// -ln of P(t|s) and P(s|t); with kHasLabels, the number of labels and begin and end of each.
//
// A count that is n/d with d up to 16 is the even code 2 (16 n + d - 1) and exact. Other counts of rules are the odd
// code 2 q + 1, q = -ln(count / total of the source) in steps; other totals of sources likewise, with q =
// ln(total) + kLeast in steps. The total of a target is 0 if it equals the rule's count, an even code if both are n/d,
// else the odd code of -ln P(s|t).
//
// The index: buckets of eight 64-bit slots, filled from their beginning, a full one continued by the next; a slot is
// the low bits of the prefix's key, one bit that says whether longer sources begin with it, and the place of its rules
// plus 1 (0: it is no source). Slots of one chain that agree in the bits of the key are also in the list of exceptions,
// where keys are whole.
//
// With kHasShares, behind the description: of each source word the share of its occurrences that have no link, a float.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/mapped_header.hh"
#include "table/rule_counts.hh"

namespace treeglot::rule_format {

inline constexpr char kMagic[8] = {'T', 'G', 'R', 'T', '\r', '\n', '\x1a', '\0'};
inline constexpr std::uint32_t kVersion = 5;  // 4: XXH64; 5: words without links
inline constexpr std::uint32_t kHasLabels = 1, kDiscounted = 2, kHasShares = 4;

struct Header {
  char magic[8];
  std::uint32_t version, flags;
  MachineProbe probe;
  std::uint64_t file_size, checksum;
  char grammar[32];
  std::uint64_t sentences, occurrences;  // of the corpus
  std::uint64_t rules, sources, prefixes;
  std::uint64_t source_words, categories, target_words;            // sizes
  std::uint64_t source_strings, category_strings, target_strings;  // offsets
  std::uint64_t source_symbols, target_symbols;                    // sizes
  std::uint64_t source_ranks, target_ranks;                        // offsets: rank -> symbol
  std::uint64_t data, data_end;                                    // offsets
  std::uint64_t index, home_buckets, buckets;                      // offset, buckets that keys belong to, all buckets
  std::uint64_t place_bits;                                        // of a slot
  std::uint64_t exceptions, exception_count;                       // offset
  std::uint64_t description, description_size;                     // offset
  std::uint64_t longest_source, longest_target;                    // symbols
  std::uint64_t header_checksum;
};

struct Exception {
  std::uint64_t key, slot;  // the slot without the bits of the key
};

inline constexpr std::size_t kBucket = 8;         // slots: one cache line
inline constexpr double kLoad = 0.85;             // of the buckets
inline constexpr double kStep = 0.004;            // of quantised logarithms: no error above 0.002
inline constexpr double kLeast = 21;              // no total is below e^-21
inline constexpr std::uint64_t kMaxSide = 65535;  // symbols

inline MachineProbe probe() { return MachineProbe({sizeof(Symbol), sizeof(TargetSymbol), sizeof(Exception), kBucket}); }

// The number of buckets that keys belong to.
inline std::uint64_t home_buckets(std::uint64_t prefixes) {
  return static_cast<std::uint64_t>(static_cast<double>(prefixes) / (kBucket * kLoad)) + 1;
}

inline std::uint64_t home_bucket(std::uint64_t key, std::uint64_t buckets) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(key) * buckets) >> 64);
}

inline std::uint64_t steps(double logarithm) {
  return logarithm > 0 ? static_cast<std::uint64_t>(std::llround(logarithm / kStep)) : 0;
}

// The even code of a count, or 0 if it is not n/d.
inline std::uint64_t exact_code(std::uint64_t units) {
  for (std::uint64_t d = 1; d <= 16; ++d) {
    if (units * d % kCountUnit == 0) return 2 * (16 * (units * d / kCountUnit) + d - 1);
  }
  return 0;
}

}  // namespace treeglot::rule_format
