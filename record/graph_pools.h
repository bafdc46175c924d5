// CUDA graphs have pools of their own in the allocator. A stream below 0 stands for such a pool: no
// stream shares its blocks.
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symprof {

/// While a graph of torch.compile is recorded, or run for the first time, its tensors are blocks of
/// the pool.
inline constexpr std::int64_t graph_pool_stream = -1;
/// Replayed it takes none: tensors lie where they lay when it was recorded.
inline constexpr std::int64_t graph_replay_stream = -2;
/// From here down: captures of the program's own (torch.cuda.graph), in Recording::capture_streams.
inline constexpr std::int64_t first_capture_stream = -3;

/// The stream that is captured, and the pool that blocks come from meanwhile: within a pool, too,
/// each stream has its own blocks.
struct CaptureStream {
  std::int64_t pool = 0;
  std::int64_t stream = 0;
};

/// True for a call that is captured by the program: it does not run.
constexpr bool is_captured(std::int64_t stream) { return stream <= first_capture_stream; }
/// Of a capture's stream, its index in Recording::capture_streams.
constexpr std::size_t capture_index(std::int64_t stream) {
  return static_cast<std::size_t>(first_capture_stream - stream);
}
constexpr std::int64_t capture_stream(std::size_t index) {
  return first_capture_stream - static_cast<std::int64_t>(index);
}

/// What a program asks of the allocator beside blocks.
struct AllocatorRequest {
  enum class Kind : std::uint8_t {
    empty_cache,   ///< torch.cuda.empty_cache
    keep_pool,     ///< A capture begins: its pool keeps what it reserves.
    release_pool,  ///< Its graph is gone, and with the last one of a pool the pool.
  };
  std::size_t before_event = 0;  ///< Index into Recording::events.
  Kind kind = Kind::empty_cache;
  std::int64_t stream = 0;  ///< Of a pool: that of the capture.
};

}  // namespace symprof
