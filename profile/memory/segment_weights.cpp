#include "profile/memory/segment_weights.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/rounding.h"
#include "profile/memory/allocator/caching_allocator.h"
#include "profile/memory/segment_packing.h"
#include "profile/memory/step_memory.h"

namespace symprof::profile {
namespace {

/// Requests of a loop, besides the model.
struct Requests {
  std::set<std::int64_t> going;               // Sizes of transient blocks.
  std::set<std::int64_t> staying;             // Sizes of persistent blocks.
  std::map<std::int64_t, std::int64_t> stay;  // Library blocks: number by size.
  // By recording and size: block counts at the peak of the small pool (up to 1 MiB), and of the
  // large pool.
  std::vector<std::map<std::int64_t, std::int64_t>> small, large;
};

/// Block counts of one pool by size, now and at the peak.
class HeldSizes {
 public:
  void change(std::int64_t size, int sign) {
    now_[size] += sign;
    bytes_ += sign * size;
    if (bytes_ <= most_bytes_) return;
    most_bytes_ = bytes_;
    most_ = now_;
  }

  std::map<std::int64_t, std::int64_t> most() && {
    std::erase_if(most_, [](const auto& held) { return held.second == 0; });
    return std::move(most_);
  }

 private:
  std::map<std::int64_t, std::int64_t> now_, most_;
  std::int64_t bytes_ = 0, most_bytes_ = 0;
};

void read(Requests& requests, const Recording& recording, const DeviceSpec& device,
          const LoopOptions& loop) {
  HeldSizes small, large;
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
    (size <= small_limit_bytes ? small : large).change(size, is_alloc ? 1 : -1);
  }
  requests.small.push_back(std::move(small).most());
  requests.large.push_back(std::move(large).most());
}

/// The segments of one pool.
struct Segments {
  std::set<std::int64_t> sizes;                 // Sizes of segments open to any block.
  std::set<std::int64_t> own_blocks;            // Persistent blocks with their own segment.
  std::map<std::int64_t, std::int64_t> holes;   // Holes in the model's segments: number by bytes.
  std::int64_t model_bytes = 0;                 // Bytes of the model's segments.
  std::int64_t base_bytes = 0, unit_bytes = 0;  // As in SegmentWeights.
};

/// True if the block shares a segment whose size is a setting.
bool is_shared(std::int64_t size, AllocatorSettings settings) {
  settings.large_segment_bytes = 0;
  return segment_size(size, settings) == 0;
}

/// A persistent block with its own segment leaves the rest of that segment to others.
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
  CachingAllocator allocator(settings, endless_bytes);
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

/// Expandable segments can be filled completely.
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

/// Sizes of one pool, those with the most bytes at the peak first.
std::vector<std::int64_t> by_importance(const Requests& requests, bool is_small) {
  std::set<std::int64_t> all = requests.going;
  all.insert(requests.staying.begin(), requests.staying.end());
  for (const auto& [size, count] : requests.stay) all.insert(size);
  std::erase_if(all, [&](std::int64_t size) { return (size <= small_limit_bytes) != is_small; });
  std::vector<std::int64_t> sizes(all.begin(), all.end());
  const std::map<std::int64_t, std::int64_t>& most =
      (is_small ? requests.small : requests.large).back();
  const auto held = [&](std::int64_t size) {
    const auto found = most.find(size);
    return found == most.end() ? 0 : found->second * size;
  };
  std::ranges::stable_sort(sizes, std::ranges::greater(), held);
  return sizes;
}

/// Computes the model's weight. Blocks in a hole may weigh more than the hole's bytes, unless each
/// weighs its own bytes.
void weigh_model(SegmentWeights& weights, const Segments& segments) {
  const bool are_own = std::ranges::all_of(
      weights.by_bytes, [](const auto& weight) { return weight.second <= weight.first; });
  weights.of_model = segments.model_bytes;
  for (const auto& [bytes, count] : segments.holes) {
    Filling hole(bytes);
    for (const auto& [size, weight] : weights.by_bytes) hole.add(size, weight);
    weights.of_model -= count * (are_own ? std::min(hole.most(), bytes) : hole.most());
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

/// Gives each size without a weight the most that the segments allow besides the others, if that
/// makes none of `holes` heavier.
SegmentWeights most_weights(const std::map<std::int64_t, std::int64_t>& given,
                            const std::vector<std::int64_t>& sizes, const Segments& segments,
                            const std::map<std::int64_t, std::int64_t>& holes) {
  std::vector<Filling> fillings(segments.sizes.begin(), segments.sizes.end());
  for (const auto& [bytes, count] : holes) fillings.emplace_back(bytes);
  SegmentWeights weights;
  const auto add = [&](std::int64_t size, std::int64_t weight) {
    weights.by_bytes[size] = weight;
    for (Filling& filling : fillings) filling.add(size, weight);
  };
  for (const auto& [size, weight] : given) add(size, weight);
  std::vector<std::int64_t> most;
  for (std::size_t i = 0; i < fillings.size(); ++i)
    most.push_back(i < segments.sizes.size() ? fillings[i].bytes() : fillings[i].most());
  for (const std::int64_t size : sizes) {
    if (weights.by_bytes.contains(size)) continue;
    std::int64_t weight = segments.own_blocks.contains(size) ? size : endless_bytes;
    for (std::size_t i = 0; i < fillings.size(); ++i)
      weight = std::min(weight, fillings[i].room_for(size, most[i]));
    add(size, std::max<std::int64_t>(weight, 0));
  }
  weigh_model(weights, segments);
  return weights;
}

/// Persistent blocks weigh their bytes.
SegmentWeights most_weights(const std::vector<std::int64_t>& sizes, const Segments& segments) {
  std::map<std::int64_t, std::int64_t> own;
  for (const std::int64_t size : segments.own_blocks) own[size] = size;
  return most_weights(own, sizes, segments, {});
}

/// The weights that maximize the weight of the held blocks. Persistent blocks may be in their own
/// segment, or in others.
SegmentWeights packed_weights(const std::map<std::int64_t, std::int64_t>& held,
                              const std::vector<std::int64_t>& sizes, const Segments& segments) {
  return most_weights(packing_weights(held, segments.sizes, segments.own_blocks, segments.holes),
                      sizes, segments, segments.holes);
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
                                         const DeviceSpec& device, LoopOptions loop,
                                         bool may_reserve) {
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
  if (may_reserve) {
    Segments of_small;
    large = {};
    use_pages(of_small, large, *recordings.front(), loop.allocator);
    large.unit_bytes = own_segment_unit_bytes;
  }
  const std::vector<std::int64_t> small_sizes = by_importance(requests, true),
                                  large_sizes = by_importance(requests, false);
  const SegmentWeights own_large = own_weights(large_sizes, large);
  std::vector<PoolWeights> all{{own_weights(small_sizes, small), own_large},
                               {most_weights(small_sizes, small),
                                may_reserve ? own_large : most_weights(large_sizes, large)}};
  for (std::size_t i = 0; i < recordings.size(); ++i)
    all.push_back(
        {packed_weights(requests.small[i], small_sizes, small),
         may_reserve ? own_large : packed_weights(requests.large[i], large_sizes, large)});
  return all;
}

}  // namespace symprof::profile
