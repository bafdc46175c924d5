// Detects when a loop repeats itself.
#pragma once

#include <optional>
#include <utility>

namespace symprof::profile {

/// Finds the period of rounds that depend only on the previous round's state, storing one state
/// (Brent's algorithm).
template <class State>
class Cycle {
 public:
  /// Takes the state after one more round. Returns the period in rounds, once a state has recurred.
  std::optional<int> add(State state) {
    ++rounds_;
    if (marked_ && *marked_ == state) return rounds_;
    if (rounds_ == next_mark_) {
      marked_ = std::move(state);
      rounds_ = 0;
      next_mark_ *= 2;
    }
    return std::nullopt;
  }

 private:
  std::optional<State> marked_;
  int rounds_ = 0;  // Since marked_ was set.
  int next_mark_ = 1;
};

}  // namespace symprof::profile
