// Device memory that a call takes beside its outputs: what its kernels need while they run, and the
// workspaces that stay. No tensor of the program shows it; the allocator counts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profile/checked.h"
#include "profile/flops/rules.h"

namespace symprof::profile {

/// Elements of int64 (indices, counts) and of float32.
constexpr std::int64_t long_bytes = 8, float_bytes = 4;

struct Temporaries {
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
  /// The first such call of a thread makes the thread's cuBLAS workspace, which stays.
  bool uses_cublas = false;
  /// There are more, and their size is known to a library alone (cuDNN's plans).
  bool is_incomplete = false;

  /// Takes a block and says which it is.
  std::size_t take(Count bytes);
  /// Gives `block` back here, before whatever is taken next.
  void give_back(std::size_t block);
  /// The same for all blocks from `first` on that are not given back yet.
  void give_back_from(std::size_t first);
  /// The call's outputs are made here; without this, before all blocks. At most once.
  void make_outputs();
};

/// What a rule may ask of the device: the number of multiprocessors decides how work is split.
using TemporariesFunction = Temporaries (*)(const Call&, const DeviceSpec&);

struct TemporariesRule {
  std::string_view op;
  TemporariesFunction temporaries;
};
using TemporariesRules = std::span<const TemporariesRule>;

TemporariesRules matmul_temporaries();
TemporariesRules attention_temporaries();
TemporariesRules convolution_temporaries();
TemporariesRules indexing_temporaries();
TemporariesRules embedding_temporaries();
TemporariesRules masking_temporaries();
TemporariesRules reduction_temporaries();
TemporariesRules normalization_temporaries();
TemporariesRules batch_norm_temporaries();
TemporariesRules loss_temporaries();
TemporariesRules sorting_temporaries();
TemporariesRules list_temporaries();
TemporariesRules resampling_temporaries();
TemporariesRules elementwise_temporaries();
TemporariesRules uniqueness_temporaries();
TemporariesRules random_temporaries();
TemporariesRules searching_temporaries();
TemporariesRules distance_temporaries();
TemporariesRules scattering_temporaries();
TemporariesRules segment_temporaries();
TemporariesRules unmodelled_temporaries();

/// Null for an operator that takes nothing beside its outputs.
TemporariesFunction find_temporaries(std::string_view op);

/// By call of `recording`.
std::vector<Temporaries> temporaries_of(const Recording& recording, const DeviceSpec& device);

}  // namespace symprof::profile
