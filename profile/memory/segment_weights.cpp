#include "profile/memory/segment_weights.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/rounding.h"

namespace symprof::profile {
namespace {

/// Bytes are counted in so many cells of a segment.
constexpr std::int64_t most_cells = 2048;
constexpr std::int64_t boundless_bytes = std::int64_t{1} << 58;

/// The most that blocks in a number of bytes weigh. Their sizes are rounded down to cells, so that
/// no way to fill it is left out.
class Filling {
 public:
  explicit Filling(std::int64_t bytes)
      : bytes_(bytes),
        cell_(std::max(divide_up(bytes, most_cells), smallest_block_bytes)),
        most_(static_cast<std::size_t>(bytes / cell_) + 1, 0) {}

  std::int64_t bytes() const { return bytes_; }
  std::int64_t most() const { return most_.back(); }

  void add(std::int64_t bytes, std::int64_t weight) {
    const auto cells = static_cast<std::size_t>(bytes / cell_);
    if (cells == 0 || bytes > bytes_) return;
    for (std::size_t i = cells; i < most_.size(); ++i)
      most_[i] = std::max(most_[i], most_[i - cells] + weight);
  }

  /// What a block may weigh, beside those that were added, so that all weigh `bytes()` at most.
  std::int64_t room_for(std::int64_t bytes) const {
    if (bytes > bytes_) return std::numeric_limits<std::int64_t>::max();
    const auto cells = static_cast<std::size_t>(bytes / cell_);
    if (cells == 0) return 0;
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (std::size_t count = 1; count * cells < most_.size(); ++count)
      room = std::min(room, (bytes_ - most_[most_.size() - 1 - count * cells]) /
                                static_cast<std::int64_t>(count));
    return room;
  }

 private:
  std::int64_t bytes_, cell_;
  std::vector<std::int64_t> most_;  // By cells that there are.
};

/// What a loop asks for, beside the model.
struct Requests {
  std::set<std::int64_t> going;               // Sizes of blocks that come and go.
  std::set<std::int64_t> staying;             // And of those that stay once they are there.
  std::map<std::int64_t, std::int64_t> stay;  // cuBLAS's workspaces, by size: how many.
  std::map<std::int64_t, std::int64_t> held;  // By size: blocks at the peak.
};

void read(Requests& requests, const Recording& recording, const DeviceSpec& device,
          const LoopOptions& loop) {
  std::map<std::int64_t, std::int64_t> now;
  std::int64_t bytes = 0, most = 0;
  requests.stay.clear();
  for (const MemoryTrace::Entry& entry :
       trace_step_memory(recording, device, {.loop = loop}).entries) {
    const bool is_alloc = entry.event.action == AllocatorAction::alloc;
    if (!is_alloc && entry.event.action != AllocatorAction::free) continue;
    if (entry.category == MemoryCategory::parameters || entry.category == MemoryCategory::buffers)
      continue;
    const std::int64_t size = rounded_size(entry.event.bytes, loop.allocator);
    if (entry.category == MemoryCategory::workspace)
      ++requests.stay[size];
    else
      (entry.category == MemoryCategory::optimizer ? requests.staying : requests.going)
          .insert(size);
    now[size] += is_alloc ? 1 : -1;
    bytes += is_alloc ? size : -size;
    if (bytes <= most) continue;
    most = bytes;
    requests.held = now;
  }
}

/// The segments that blocks of one pool lie in.
struct Segments {
  std::set<std::int64_t> sizes;                 // Of those that anything may lie in.
  std::set<std::int64_t> own_blocks;            // What stays in a segment of its own.
  std::map<std::int64_t, std::int64_t> holes;   // In those of the model, by bytes: how many.
  std::int64_t model_bytes = 0;                 // Of those of the model.
  std::int64_t base_bytes = 0, unit_bytes = 0;  // As in SegmentWeights.
};

/// Whether the block shares a segment whose size is a setting.
bool is_shared(std::int64_t size, AllocatorSettings settings) {
  settings.large_segment_bytes = 0;
  return segment_size(size, settings) == 0;
}

/// What stays in a segment of its own leaves the rest of that to others.
void add_segments(Segments& segments, const Requests& requests, bool is_small,
                  const AllocatorSettings& settings) {
  const auto is_of_pool = [&](std::int64_t size) {
    return (size <= small_limit_bytes) == is_small;
  };
  const auto add = [&](std::int64_t size, bool goes) {
    const std::int64_t segment = segment_size(size, settings);
    segments.unit_bytes = std::gcd(segments.unit_bytes, segment);
    if (is_small || goes || is_shared(size, settings)) {
      segments.sizes.insert(segment);
      return;
    }
    segments.own_blocks.insert(size);
    if (segment > size) segments.sizes.insert(segment - size);
  };
  for (const std::int64_t size : requests.going)
    if (is_of_pool(size)) add(size, true);
  for (const std::int64_t size : requests.staying)
    if (is_of_pool(size) && !requests.going.contains(size)) add(size, false);
  for (const auto& [size, count] : requests.stay) {
    if (!is_of_pool(size) || requests.going.contains(size)) continue;
    const std::int64_t unit = segments.unit_bytes, segment = segment_size(size, settings);
    const bool has_other = !segments.sizes.empty() && *segments.sizes.rbegin() >= size;
    add(size, false);
    if (is_small || has_other || is_shared(size, settings)) continue;
    segments.unit_bytes = unit;
    segments.base_bytes += count * segment;
  }
}

void add_model(Segments& small, Segments& large, const Recording& recording,
               const AllocatorSettings& settings) {
  CachingAllocator allocator(settings, boundless_bytes);
  std::vector<Address> going;
  for (const StorageId id : storages_before_loop(recording)) {
    const StorageRecord& storage = recording.storages[static_cast<std::size_t>(id)];
    const auto address = allocator.allocate(storage.bytes, storage.stream);
    if (address && !is_of_model(storage)) going.push_back(*address);
  }
  for (const Address address : going) allocator.free(address);
  for (const SegmentState& segment : allocator.snapshot()) {
    Segments& segments = segment.is_small ? small : large;
    const auto is_held = [](const BlockState& block) { return block.is_allocated; };
    if (std::ranges::none_of(segment.blocks, is_held)) continue;
    segments.model_bytes += segment.bytes;
    for (const BlockState& block : segment.blocks)
      if (!block.is_allocated) ++segments.holes[block.bytes];
  }
  for (Segments* segments : {&small, &large}) segments->base_bytes += segments->model_bytes;
}

/// Pages can be filled.
void use_pages(Segments& small, Segments& large, const Recording& recording,
               const AllocatorSettings& settings) {
  for (const StorageId id : storages_before_loop(recording)) {
    const StorageRecord& storage = recording.storages[static_cast<std::size_t>(id)];
    if (!is_of_model(storage)) continue;
    const std::int64_t bytes = rounded_size(storage.bytes, settings);
    (bytes <= small_limit_bytes ? small : large).model_bytes += bytes;
  }
  small.unit_bytes = segment_size(smallest_block_bytes, settings);
  large.unit_bytes = settings.large_segment_bytes;
}

/// Sizes of one pool, those that hold the most at the peak first.
std::vector<std::int64_t> by_importance(const Requests& requests, bool is_small) {
  std::set<std::int64_t> all = requests.going;
  all.insert(requests.staying.begin(), requests.staying.end());
  for (const auto& [size, count] : requests.stay) all.insert(size);
  std::erase_if(all, [&](std::int64_t size) { return (size <= small_limit_bytes) != is_small; });
  std::vector<std::int64_t> sizes(all.begin(), all.end());
  const auto held = [&](std::int64_t size) {
    const auto found = requests.held.find(size);
    return found == requests.held.end() ? 0 : found->second * size;
  };
  std::ranges::stable_sort(sizes, std::ranges::greater(), held);
  return sizes;
}

void weigh_model(SegmentWeights& weights, const Segments& segments) {
  weights.of_model = segments.model_bytes;
  for (const auto& [bytes, count] : segments.holes) {
    Filling hole(bytes);
    for (const auto& [size, weight] : weights.by_bytes) hole.add(size, weight);
    weights.of_model -= count * std::min(hole.most(), bytes);
  }
  weights.base_bytes = segments.base_bytes;
  weights.unit_bytes = std::max<std::int64_t>(segments.unit_bytes, 1);
}

SegmentWeights own_weights(const std::vector<std::int64_t>& sizes, const Segments& segments) {
  SegmentWeights weights;
  for (const std::int64_t size : sizes) weights.by_bytes[size] = size;
  weigh_model(weights, segments);
  return weights;
}

/// Each size in turn weighs as much as the segments leave to it beside those before it.
SegmentWeights most_weights(const std::vector<std::int64_t>& sizes, const Segments& segments) {
  std::vector<Filling> fillings(segments.sizes.begin(), segments.sizes.end());
  SegmentWeights weights;
  const auto add = [&](std::int64_t size, std::int64_t weight) {
    weights.by_bytes[size] = weight;
    for (Filling& filling : fillings) filling.add(size, weight);
  };
  for (const std::int64_t size : segments.own_blocks) add(size, size);
  for (const std::int64_t size : sizes) {
    if (segments.own_blocks.contains(size)) continue;
    std::int64_t weight = boundless_bytes;
    for (const Filling& filling : fillings) weight = std::min(weight, filling.room_for(size));
    add(size, std::max<std::int64_t>(weight, 0));
  }
  weigh_model(weights, segments);
  return weights;
}

}  // namespace

bool is_of_model(const StorageRecord& storage) {
  return storage.kind == StorageKind::parameter || storage.kind == StorageKind::buffer;
}

std::vector<StorageId> storages_before_loop(const Recording& recording) {
  std::vector<bool> has_event(recording.storages.size());
  for (const MemoryEvent& event : recording.events)
    has_event[static_cast<std::size_t>(event.storage)] = true;
  std::vector<StorageId> storages;
  for (std::size_t i = 0; i < has_event.size(); ++i)
    if (!has_event[i]) storages.push_back(static_cast<StorageId>(i));
  for (const MemoryEvent& event : recording.events) {
    if (event.call != none) break;
    if (event.kind == EventKind::allocate) storages.push_back(event.storage);
  }
  std::erase_if(storages, [&](StorageId id) {
    const StorageRecord& storage = recording.storages[static_cast<std::size_t>(id)];
    return !storage.on_device || storage.bytes == 0 || storage.kind == StorageKind::optimizer_state;
  });
  return storages;
}

std::vector<PoolWeights> segment_weights(const std::vector<const Recording*>& recordings,
                                         const DeviceSpec& device, LoopOptions loop) {
  loop.allocator.roundup_power2_divisions = {};
  Requests requests;
  for (const Recording* recording : recordings) read(requests, *recording, device, loop);
  Segments small, large;
  if (loop.allocator.expandable_segments) {
    use_pages(small, large, *recordings.front(), loop.allocator);
    return {{own_weights(by_importance(requests, true), small),
             own_weights(by_importance(requests, false), large)}};
  }
  add_segments(small, requests, true, loop.allocator);
  add_segments(large, requests, false, loop.allocator);
  add_model(small, large, *recordings.front(), loop.allocator);
  const std::vector<std::int64_t> small_sizes = by_importance(requests, true),
                                  large_sizes = by_importance(requests, false);
  return {{own_weights(small_sizes, small), own_weights(large_sizes, large)},
          {most_weights(small_sizes, small), most_weights(large_sizes, large)}};
}

}  // namespace symprof::profile
