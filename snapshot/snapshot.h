// A memory snapshot as PyTorch writes it: the allocator's events, and its segments at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace symprof::snapshot {

/// A stack of frames; 0 is the empty stack.
using StackId = std::uint32_t;
/// A text of the snapshot; 0 is the empty text.
using TextId = std::uint32_t;
using FrameId = std::uint32_t;

struct Frame {
  TextId function = 0, file = 0;
  std::int64_t line = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

enum class Action : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
  unknown,  ///< An action that a later PyTorch has added.
};

struct Event {
  /// For an out-of-memory event: the free memory of the device, in bytes.
  std::int64_t address = 0;
  std::int64_t bytes = 0;    ///< Requested bytes; for a segment, its size.
  std::int64_t time_us = 0;  ///< Since 1970; 0 where the snapshot has no times.
  std::int64_t stream = 0;
  StackId stack = 0;
  TextId metadata = 0;  ///< The text set by torch._C._cuda_setMemoryMetadata.
  Action action = Action::unknown;
};

enum class BlockUse : std::uint8_t { free, allocated, pending_free };

struct Block {
  std::int64_t address = 0, bytes = 0, requested_bytes = 0;
  BlockUse use = BlockUse::free;
  StackId stack = 0;
};

/// (0, 0) is the default pool; others are private, mostly of CUDA graphs.
struct PoolId {
  std::int64_t first = 0, second = 0;
  friend auto operator<=>(const PoolId&, const PoolId&) = default;  // NOLINT(modernize-use-nullptr)
};

struct Segment {
  std::int64_t device = 0, address = 0, bytes = 0, stream = 0;
  PoolId pool;
  bool is_small = false, is_expandable = false;
  StackId stack = 0;
  std::vector<Block> blocks;
};

/// Those of the snapshot's allocator_settings that determine sizes of blocks.
struct Settings {
  std::string conf;  ///< PYTORCH_CUDA_ALLOC_CONF.
  bool expandable_segments = false;
  std::optional<std::int64_t> max_split_size_bytes;
  std::vector<std::int64_t> roundup_power2_divisions;  ///< Sixteen values, or empty.
};

/// All frames, texts and stacks, without duplicates.
class Stacks {
 public:
  std::span<const FrameId> frames(StackId stack) const {
    return {ids_.data() + begins_[stack], ids_.data() + begins_[stack + 1]};
  }
  const Frame& frame(FrameId id) const { return frames_[id]; }
  const std::string& text(TextId id) const { return texts_[id]; }
  std::size_t size() const { return begins_.size() - 1; }
  std::size_t id_count() const { return ids_.size(); }
  std::size_t frame_count() const { return frames_.size(); }
  std::size_t text_count() const { return texts_.size(); }

  StackId add(std::span<const FrameId> frames);
  FrameId add(const Frame& frame);
  TextId add(std::string text);

 private:
  std::vector<FrameId> ids_;
  std::vector<std::uint64_t> begins_{0, 0};
  std::vector<Frame> frames_;
  std::vector<std::string> texts_{std::string()};
};

struct Snapshot {
  std::string path;
  Stacks stacks;
  std::vector<Segment> segments;
  std::vector<std::vector<Event>> traces;  ///< By device, the oldest event first.
  Settings settings;
};

}  // namespace symprof::snapshot
