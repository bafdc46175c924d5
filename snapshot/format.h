// The words of PyTorch's memory snapshots, for the writer and the reader. Source:
// torch/csrc/cuda/memory_snapshot.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace symprof::snapshot {

/// Keys of dictionaries, and words that are values.
enum class Word : std::uint8_t {
  // Of the whole.
  segments,
  device_traces,
  allocator_settings,
  external_annotations,
  // Of an event.
  action,
  addr,
  device_free,
  size,
  stream,
  time_us,
  frames,
  user_metadata,
  // Of a frame.
  filename,
  line,
  name,
  // Of a segment.
  device,
  address,
  total_size,
  segment_type,
  segment_pool_id,
  is_expandable,
  blocks,
  allocated_size,
  active_size,
  // Of a block.
  state,
  requested_size,
  // Actions.
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  snapshot,
  oom,
  // Kinds of segments, states of blocks.
  small,
  large,
  active_allocated,
  active_pending_free,
  active_awaiting_free,
  inactive,
};

constexpr auto words_of_format = std::to_array<std::string_view>({"segments",
                                                                  "device_traces",
                                                                  "allocator_settings",
                                                                  "external_annotations",
                                                                  "action",
                                                                  "addr",
                                                                  "device_free",
                                                                  "size",
                                                                  "stream",
                                                                  "time_us",
                                                                  "frames",
                                                                  "user_metadata",
                                                                  "filename",
                                                                  "line",
                                                                  "name",
                                                                  "device",
                                                                  "address",
                                                                  "total_size",
                                                                  "segment_type",
                                                                  "segment_pool_id",
                                                                  "is_expandable",
                                                                  "blocks",
                                                                  "allocated_size",
                                                                  "active_size",
                                                                  "state",
                                                                  "requested_size",
                                                                  "alloc",
                                                                  "free_requested",
                                                                  "free_completed",
                                                                  "segment_alloc",
                                                                  "segment_free",
                                                                  "segment_map",
                                                                  "segment_unmap",
                                                                  "snapshot",
                                                                  "oom",
                                                                  "small",
                                                                  "large",
                                                                  "active_allocated",
                                                                  "active_pending_free",
                                                                  "active_awaiting_free",
                                                                  "inactive"});
static_assert(words_of_format.size() == static_cast<std::size_t>(Word::inactive) + 1);

constexpr std::string_view text(Word word) {
  return words_of_format[static_cast<std::size_t>(word)];
}

}  // namespace symprof::snapshot
