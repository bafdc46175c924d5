// The dynamic program of rotor (Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, "Optimal
// checkpointing for heterogeneous chains"; its public code is ColossalAI's
// auto_parallel/checkpoint/ckpt_solver_rotor.py): which stages of a chain save everything and which
// keep their input alone, where what is kept once stays until its backward (persistent schedules).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace symprof::plan {

/// A chain of stages 0…L−1 and a loss stage L. Stage i reads value i and makes value i+1. Sizes are
/// in one common unit of memory.
struct RotorChain {
  std::vector<double> forward, backward;  ///< By stage, L of them: times.
  std::vector<std::int64_t> value;        ///< By value, L + 1 of them: size, also of its gradient.
  /// By value, L + 1 of them: value i with all that stage i−1 saves for its backward.
  std::vector<std::int64_t> saved;
  std::vector<std::int64_t> forward_temporary, backward_temporary;  ///< By stage, L of them.
};

/// Stages recomputed as one segment, [first, end).
struct RotorSegment {
  std::size_t first = 0, end = 0;
  /// Parts of it are recomputed more than once: not all of its stages save everything.
  bool is_nested = false;
};

struct RotorSchedule {
  double time = 0;
  std::vector<RotorSegment> segments;  ///< The outermost ones; all other stages save everything.
};

/// The fastest schedule within `memory`, value 0 included; empty: none.
std::optional<RotorSchedule> rotor(const RotorChain& chain, std::int64_t memory);

}  // namespace symprof::plan
