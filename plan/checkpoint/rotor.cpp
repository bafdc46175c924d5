#include "plan/checkpoint/rotor.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace symprof::plan {
namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();
constexpr std::int64_t keep_all = -1;

/// C(m, s, t): the least time of forward and backward of stages s…t with memory m beside value s.
class Table {
 public:
  Table(const RotorChain& chain, std::int64_t memory)
      : chain_(chain),
        stages_(chain.forward.size() + 1),
        memory_(memory),
        cells_(static_cast<std::size_t>(std::max<std::int64_t>(memory + 1, 0)) * stages_ *
               stages_) {
    for (std::size_t length = 0; length < stages_; ++length)
      for (std::size_t s = 0; s + length < stages_; ++s)
        for (std::int64_t m = 0; m <= memory_; ++m) fill(m, s, s + length);
  }

  double time(std::int64_t m, std::size_t s, std::size_t t) const {
    if (m < 0) return impossible;
    return cell(m, s, t).time;
  }

  void add_segments(std::int64_t m, std::size_t s, std::size_t t,
                    std::vector<RotorSegment>& segments) const {
    for (; s < t; m -= saved(s + 1), ++s) {
      const std::int64_t choice = cell(m, s, t).choice;
      if (choice == keep_all) continue;
      const auto j = static_cast<std::size_t>(choice);
      std::vector<RotorSegment> inner;
      add_segments(m, s, j - 1, inner);
      segments.push_back({s, j, !inner.empty()});
      return add_segments(m - chain_.value[j], j, t, segments);
    }
  }

 private:
  struct Cell {
    double time = impossible;
    std::int64_t choice = keep_all;  // Or the first stage after those that keep only their input.
  };

  const Cell& cell(std::int64_t m, std::size_t s, std::size_t t) const {
    return cells_[(static_cast<std::size_t>(m) * stages_ + s) * stages_ + t];
  }

  // The loss stage takes no time and no further memory.
  template <class T>
  static T or_nothing(const std::vector<T>& list, std::size_t i) {
    return i < list.size() ? list[i] : T{};
  }
  std::int64_t value(std::size_t i) const { return or_nothing(chain_.value, i); }
  std::int64_t saved(std::size_t i) const { return or_nothing(chain_.saved, i); }
  std::int64_t forward_temporary(std::size_t i) const {
    return or_nothing(chain_.forward_temporary, i);
  }

  std::int64_t least_memory(std::size_t s, std::size_t t) const {
    std::int64_t most = value(s + 1) + forward_temporary(s);
    for (std::size_t j = s + 1; j < t; ++j)
      most = std::max(most, value(j) + value(j + 1) + forward_temporary(j));
    return value(t + 1) + most;
  }

  double alone(std::int64_t m, std::size_t s) const {
    const std::int64_t needed =
        value(s + 1) + saved(s + 1) +
        std::max(forward_temporary(s), or_nothing(chain_.backward_temporary, s));
    return m >= needed ? or_nothing(chain_.forward, s) + or_nothing(chain_.backward, s)
                       : impossible;
  }

  void fill(std::int64_t m, std::size_t s, std::size_t t) {
    Cell& found = cells_[(static_cast<std::size_t>(m) * stages_ + s) * stages_ + t];
    found = {};
    if (s == t) {
      found.time = alone(m, s);
      return;
    }
    if (m < least_memory(s, t)) return;
    found.time = alone(m, s) + time(m - saved(s + 1), s + 1, t);
    double forward = 0;
    for (std::size_t j = s + 1; j <= t; ++j) {
      forward += or_nothing(chain_.forward, j - 1);
      const double split = forward + time(m - value(j), j, t) + time(m, s, j - 1);
      if (split < found.time) found = {split, static_cast<std::int64_t>(j)};
    }
  }

  const RotorChain& chain_;
  std::size_t stages_;
  std::int64_t memory_;
  std::vector<Cell> cells_;
};

}  // namespace

std::optional<RotorSchedule> rotor(const RotorChain& chain, std::int64_t memory) {
  const std::int64_t left = memory - chain.value.front();
  if (left < 0) return std::nullopt;
  const Table table(chain, left);
  RotorSchedule schedule{.time = table.time(left, 0, chain.forward.size())};
  if (schedule.time == impossible) return std::nullopt;
  table.add_segments(left, 0, chain.forward.size(), schedule.segments);
  return schedule;
}

}  // namespace symprof::plan
