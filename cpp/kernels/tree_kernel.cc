#include "kernels/tree_kernel.hh"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.hh"

namespace treeglot::kernels {

namespace {

constexpr std::size_t kMaxRows = 64;           // rows that one piece of work shares its Delta values among
constexpr std::size_t kMaxDeltas = 2'000'000;  // and how many Delta values it may hold, which bounds memory per thread

// All sub-trees at or below `nodes`, each once, by number: children before parents.
void closure(const Forest& forest, std::span<const NodeId> nodes, std::vector<NodeId>& subtrees,
             std::vector<bool>& seen) {
  subtrees.clear();
  seen.resize(std::max(seen.size(), forest.size()), false);
  for (const NodeId node : nodes) {
    if (!seen[node]) {
      seen[node] = true;
      subtrees.push_back(node);
    }
  }
  for (std::size_t k = 0; k < subtrees.size(); ++k) {
    for (const NodeId child : forest.children(subtrees[k])) {
      if (!seen[child]) {
        seen[child] = true;
        subtrees.push_back(child);
      }
    }
  }
  for (const NodeId node : subtrees) seen[node] = false;
  std::sort(subtrees.begin(), subtrees.end());
}

}  // namespace

Columns::Columns(const Forest& forest, std::span<const NodeId> asked) : ids_(asked.begin(), asked.end()) {
  std::vector<NodeId> nodes;
  std::vector<bool> seen;
  closure(forest, asked, nodes, seen);
  const std::size_t size = nodes.size();
  std::vector<std::uint32_t> order(size);  // position -> index in nodes
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return forest.production(nodes[a]) < forest.production(nodes[b]);
  });
  bottom_up_.resize(size);
  for (std::size_t position = 0; position < size; ++position)
    bottom_up_[order[position]] = static_cast<std::uint32_t>(position);
  const auto position_of = [&](NodeId node) {
    return bottom_up_[static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin())];
  };
  run_begin_.assign(forest.productions() + 1, 0);
  run_of_.resize(size);
  label_.resize(size);
  first_child_.assign(1, 0);
  for (std::size_t position = 0; position < size; ++position) {
    const NodeId node = nodes[order[position]];
    run_of_[position] = forest.production(node);
    ++run_begin_[run_of_[position] + 1];
    label_[position] = forest.label(node);
    for (const NodeId child : forest.children(node)) child_.push_back(position_of(child));
    first_child_.push_back(static_cast<std::uint32_t>(child_.size()));
  }
  std::partial_sum(run_begin_.begin(), run_begin_.end(), run_begin_.begin());
  asked_.reserve(asked.size());
  for (const NodeId node : asked) asked_.push_back(position_of(node));
}

// One thread's scratch memory: Delta between the sub-trees of a few rows and all sub-trees of the columns.
class RowWorker {
 public:
  RowWorker(const Forest& forest, double decay) : forest_(forest), decay_(decay) {}

  void use(const Columns& columns) { columns_ = &columns; }

  // Takes rows from the front until a limit is reached; returns how many.
  std::size_t prepare(std::span<const NodeId> rows) {
    std::size_t taken = std::min(rows.size(), kMaxRows);
    for (;; taken = (taken + 1) / 2) {
      closure(forest_, rows.first(taken), nodes_, seen_);
      std::size_t total = 0;
      for (const NodeId node : nodes_) total += run_size(forest_.production(node));
      if (total <= kMaxDeltas || taken == 1) {
        delta_.resize(total);
        break;
      }
    }
    offset_.resize(std::max(offset_.size(), forest_.size()));
    std::size_t filled = 0;
    for (const NodeId node : nodes_) {
      offset_[node] = filled;
      fill(node, delta_.data() + filled);
      filled += run_size(forest_.production(node));
    }
    return taken;
  }

  // Delta(row, column) at the roots; `row` was prepared.
  double at_roots(NodeId row, std::size_t column) const {
    const std::uint32_t position = columns_->asked_[column], production = forest_.production(row);
    if (columns_->run_of_[position] != production) return 0;
    return delta_[offset_[row] + position - columns_->run_begin_[production]];
  }

  // The sums of Delta over all nodes of `row` and all nodes of each sub-tree of the columns, by position.
  const std::vector<double>& sums(NodeId row) {
    sum_.assign(columns_->run_of_.size(), 0.0);
    stack_.assign(1, row);
    while (!stack_.empty()) {
      const NodeId node = stack_.back();
      stack_.pop_back();
      const std::uint32_t production = forest_.production(node);
      if (const std::size_t run = run_size(production); run != 0) {
        const double* from = delta_.data() + offset_[node];
        double* to = sum_.data() + columns_->run_begin_[production];
        for (std::size_t k = 0; k < run; ++k) to[k] += from[k];
      }
      for (const NodeId child : forest_.children(node)) stack_.push_back(child);
    }
    for (const std::uint32_t position : columns_->bottom_up_) {
      double total = sum_[position];
      for (std::uint32_t c = columns_->first_child_[position]; c < columns_->first_child_[position + 1]; ++c) {
        total += sum_[columns_->child_[c]];
      }
      sum_[position] = total;
    }
    return sum_;
  }

 private:
  std::size_t run_size(std::uint32_t production) const {
    if (production + 1 >= columns_->run_begin_.size()) return 0;  // added after the columns were made
    return columns_->run_begin_[production + 1] - columns_->run_begin_[production];
  }

  void fill(NodeId node, double* out) const {
    const std::uint32_t production = forest_.production(node);
    const std::size_t run = run_size(production);
    std::fill_n(out, run, decay_);
    const auto below = forest_.children(node);
    for (std::size_t k = 0; k < below.size(); ++k) {
      const std::uint32_t under = forest_.production(below[k]);
      if (run_size(under) == 0) continue;
      const std::uint32_t begin = columns_->run_begin_[under];
      const double* child_delta = delta_.data() + offset_[below[k]];
      for (std::size_t r = 0; r < run; ++r) {
        const std::uint32_t position = columns_->run_begin_[production] + static_cast<std::uint32_t>(r);
        const std::uint32_t child = columns_->child_[columns_->first_child_[position] + k];
        if (columns_->run_of_[child] == under) out[r] *= 1 + child_delta[child - begin];
      }
    }
  }

  const Forest& forest_;
  const Columns* columns_ = nullptr;
  const double decay_;
  std::vector<NodeId> nodes_, stack_;
  std::vector<bool> seen_;
  std::vector<std::size_t> offset_;  // by node: where its Delta values begin
  std::vector<double> delta_, sum_;
};

// What may look into Columns.
struct MatrixWork {
  static std::vector<double> selves(const Forest& forest, std::span<const NodeId> nodes, Space space, double decay,
                                    int threads) {
    std::vector<double> result(nodes.size(), 1.0);
    if (space == Space::kRoot) return result;
    for_each_piece((nodes.size() + kMaxRows - 1) / kMaxRows, threads, [&] {
      return [&, worker = RowWorker(forest, decay)](std::size_t block) mutable {
        const std::size_t begin = block * kMaxRows;
        const auto part = nodes.subspan(begin, std::min(kMaxRows, nodes.size() - begin));
        const Columns same(forest, part);
        worker.use(same);
        for (std::size_t done = 0; done < part.size();) {
          const std::size_t taken = worker.prepare(part.subspan(done));
          for (std::size_t k = done; k < done + taken; ++k) {
            result[begin + k] =
                space == Space::kRgSst ? worker.at_roots(part[k], k) : worker.sums(part[k])[same.asked_[k]];
          }
          done += taken;
        }
      };
    });
    return result;
  }

  template <class Real>
  static bool fill(const Forest& forest, std::span<const NodeId> rows, const Columns& columns, Space space,
                   double decay, bool normalize, int threads, Real* out) {
    std::vector<double> row_scale(rows.size(), 1.0), column_scale(columns.size(), 1.0);
    if (normalize && space != Space::kRoot) {
      row_scale = selves(forest, rows, space, decay, threads);
      column_scale = selves(forest, columns.ids_, space, decay, threads);
      for (std::vector<double>* scale : {&row_scale, &column_scale}) {
        for (double& value : *scale) value = 1 / std::sqrt(value);
      }
      for (const double value : row_scale) {
        if (!(value > 0)) return false;
      }
      for (const double value : column_scale) {
        if (!(value > 0)) return false;
      }
    }
    std::atomic<bool> fits{true};
    for_each_piece((rows.size() + kMaxRows - 1) / kMaxRows, threads, [&] {
      RowWorker fresh(forest, decay);
      fresh.use(columns);
      return [&, worker = std::move(fresh)](std::size_t block) mutable {
        std::size_t begin = block * kMaxRows;
        const std::size_t end = std::min(begin + kMaxRows, rows.size());
        while (begin < end) {
          const std::size_t taken =
              space == Space::kRoot ? end - begin : worker.prepare(rows.subspan(begin, end - begin));
          for (std::size_t k = begin; k < begin + taken; ++k) {
            const std::vector<double>* sums =
                space == Space::kSst || space == Space::kRdSst ? &worker.sums(rows[k]) : nullptr;
            const std::uint32_t label = forest.label(rows[k]);
            Real* row = out + k * columns.size();
            for (std::size_t c = 0; c < columns.size(); ++c) {
              const std::uint32_t position = columns.asked_[c];
              double value = 0;
              switch (space) {
                case Space::kSst:
                  value = (*sums)[position];
                  break;
                case Space::kRdSst:
                  value = label == columns.label_[position] ? (*sums)[position] : 0;
                  break;
                case Space::kRgSst:
                  value = worker.at_roots(rows[k], c);
                  break;
                case Space::kRoot:
                  value = label == columns.label_[position] ? 1 : 0;
                  break;
              }
              value = value * row_scale[k] * column_scale[c];
              if (!(value <= static_cast<double>(std::numeric_limits<Real>::max()))) fits = false;
              row[c] = static_cast<Real>(value);
            }
          }
          begin += taken;
        }
      };
    });
    return fits;
  }
};

std::vector<double> self_kernels(const Forest& forest, std::span<const NodeId> nodes, Space space, double decay,
                                 int threads) {
  return MatrixWork::selves(forest, nodes, space, decay, threads);
}

template <class Real>
bool kernel_matrix(const Forest& forest, std::span<const NodeId> rows, const Columns& columns, Space space,
                   double decay, bool normalize, int threads, Real* out) {
  return MatrixWork::fill(forest, rows, columns, space, decay, normalize, threads, out);
}

template bool kernel_matrix<float>(const Forest&, std::span<const NodeId>, const Columns&, Space, double, bool, int,
                                   float*);
template bool kernel_matrix<double>(const Forest&, std::span<const NodeId>, const Columns&, Space, double, bool, int,
                                    double*);

}  // namespace treeglot::kernels
