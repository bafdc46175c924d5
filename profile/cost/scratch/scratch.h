// Device memory that a call takes beside its outputs: what its kernels need while they run, and the
// workspaces that stay. No tensor of the program shows it; the allocator counts it.
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/device_spec.h"
#include "profile/cost/call.h"

namespace symprof::profile {

/// Bytes of an int64 (an index, a count) and of a float32.
constexpr std::int64_t long_bytes = 8, float_bytes = 4;

struct Scratch {
  /// Bytes of each block, in the order in which they are taken. What is not in `early` is given
  /// back when the call ends.
  std::vector<std::int64_t> blocks;
  /// `block` is given back before block `before` is taken; `after_outputs` tells on which side of
  /// the outputs, where they are made there too.
  struct EarlyReturn {
    std::size_t block = 0, before = 0;
    bool after_outputs = false;
  };
  std::vector<EarlyReturn> early;
  /// How many blocks are taken before the call's outputs.
  std::size_t before_outputs = 0;
  bool has_outputs = false;  ///< Whether make_outputs() was called.
  /// The output that is made after all blocks, whenever the others are.
  std::optional<std::size_t> last_output;
  /// The first such call of a thread makes the thread's cuBLAS workspace, which stays.
  bool uses_cublas = false;
  /// As well, of cuBLASLt (profile/memory/allocator/allocator_settings.h).
  bool uses_cublaslt = false;
  /// Of cuDNN's state of dropout, which all calls share (profile/memory/library_blocks.h). 0: the
  /// call reads none.
  std::int64_t dropout_state_bytes = 0;
  /// There are more, and their size is known to a library alone (cuDNN's plans).
  bool is_incomplete = false;

  /// Takes a block and says which it is.
  std::size_t take(Count bytes);
  /// Gives `block` back here, before whatever is taken next.
  void give_back(std::size_t block);
  /// Gives back, here, all blocks from `first` on that are still taken.
  void give_back_from(std::size_t first);
  /// The call's outputs are made here; without this, before all blocks. At most once.
  void make_outputs();
};

/// A rule. It may ask the device: the number of multiprocessors decides how work is split.
using ScratchFunction = Scratch (*)(const Call&, const DeviceSpec&);

struct ScratchRule {
  std::string_view op;
  ScratchFunction scratch;
};
using ScratchRules = std::span<const ScratchRule>;

/// The rule of operators that take blocks which no rule gives: each call is counted as incomplete.
/// They are those that take some in PyTorch's CUDA build, seen over PyTorch's own database of
/// operators (truth/scratch/record.py --survey), and those that do not run without a GPU.
Scratch unknown_scratch(const Call& call, const DeviceSpec& device);

}  // namespace symprof::profile
