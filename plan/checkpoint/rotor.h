// The dynamic programme of rotor (Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, "Optimal
// checkpointing for heterogeneous chains"; its public code is ColossalAI's
// auto_parallel/checkpoint/ckpt_solver_rotor.py): which stages of a chain keep what they save,
// which keep their input alone, where what is once kept stays until its backward.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace symprof::plan {

/// A chain of stages 0…L−1 and a loss stage L. Stage i reads value i and makes value i+1. All by
/// one unit of memory.
struct RotorChain {
  std::vector<double> forward, backward;  ///< Times, by stage; L of them.
  std::vector<std::int64_t> value;        ///< Of value i, and of its gradient; L + 1 of them.
  /// Of value i with all that stage i−1 saves for its backward; L + 1 of them.
  std::vector<std::int64_t> saved;
  std::vector<std::int64_t> forward_temporary, backward_temporary;  ///< By stage; L of them.
};

/// Stages that run again as one, [first, end).
struct RotorSegment {
  std::size_t first = 0, end = 0;
  /// Parts of it run again more than once: its own stages do not all keep what they save.
  bool is_nested = false;
};

struct RotorSchedule {
  double time = 0;
  std::vector<RotorSegment>
      segments;  ///< The outermost ones; all other stages keep what they save.
};

/// The fastest schedule with so much memory, value 0 included; empty: none.
std::optional<RotorSchedule> rotor(const RotorChain& chain, std::int64_t memory);

}  // namespace symprof::plan
