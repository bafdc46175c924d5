// Scratch: device memory that a call takes besides its outputs, for its kernels while they run and
// for persistent workspaces. No tensor of the program owns it, but the allocator counts it.
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
  /// Bytes of each block, in allocation order. Blocks that are not in `early` are freed when the
  /// call ends.
  std::vector<std::int64_t> blocks;
  /// `block` is freed before block `before` is taken; if the outputs are allocated there too,
  /// `after_outputs` says on which side of them.
  struct EarlyReturn {
    std::size_t block = 0, before = 0;
    bool after_outputs = false;
  };
  std::vector<EarlyReturn> early;
  /// Number of blocks taken before the call's outputs.
  std::size_t before_outputs = 0;
  bool has_outputs = false;  ///< True once make_outputs() was called.
  /// The output that is allocated after all blocks, unlike the others.
  std::optional<std::size_t> last_output;
  /// The first such call of a thread allocates the thread's persistent cuBLAS workspace.
  bool uses_cublas = false;
  /// The same for cuBLASLt (profile/memory/allocator/allocator_settings.h).
  bool uses_cublaslt = false;
  /// Bytes of cuDNN's dropout state, which all calls share (profile/memory/library_blocks.h). 0:
  /// the call reads none.
  std::int64_t dropout_state_bytes = 0;
  /// There are further blocks whose size only a library knows (cuDNN's plans).
  bool is_incomplete = false;
  /// Of these: the operator has no rule of any kind.
  bool has_no_rule = false;

  /// Takes a block and returns its index.
  std::size_t take(Count bytes);
  /// Frees `block` at this point, before the next block is taken.
  void give_back(std::size_t block);
  /// Frees at this point all blocks from `first` on that are still held.
  void give_back_from(std::size_t first);
  /// The call's outputs are allocated at this point (default: before all blocks). At most once.
  void make_outputs();
};

/// A rule. It may depend on the device: the number of multiprocessors decides how work is split.
using ScratchFunction = Scratch (*)(const Call&, const DeviceSpec&);

struct ScratchRule {
  std::string_view op;
  ScratchFunction scratch;
};
using ScratchRules = std::span<const ScratchRule>;

/// The rule of operators with unknown scratch: each call is counted as incomplete. These are the
/// operators that take blocks in PyTorch's CUDA build, surveyed over PyTorch's operator database
/// (truth/scratch/record.py --survey), and those that do not run without a GPU.
Scratch unknown_scratch(const Call& call, const DeviceSpec& device);

/// The rule of operators that have no rule of any kind.
Scratch scratch_without_rule(const Call& call, const DeviceSpec& device);

}  // namespace symprof::profile
