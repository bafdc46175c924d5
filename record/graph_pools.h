// CUDA graphs have pools of their own in the allocator. A stream below 0 stands for such a pool: no
// stream shares its blocks.
#pragma once

#include <cstdint>

namespace symprof {

/// While a graph is recorded, or run for the first time, its tensors are blocks of the pool.
inline constexpr std::int64_t graph_pool_stream = -1;
/// Replayed it takes none: tensors lie where they lay when it was recorded.
inline constexpr std::int64_t graph_replay_stream = -2;

}  // namespace symprof
