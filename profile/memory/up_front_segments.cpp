#include "profile/memory/up_front_segments.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <unordered_map>

#include "base/rounding.h"
#include "profile/memory/large_pool.h"

namespace symprof::profile {
namespace {

/// As many as a loop needs until its blocks lie where they did a step ago.
constexpr int steps = 4;
constexpr std::size_t most_segments = 8;
/// What places between blocks are multiples of, and the least that are of use.
constexpr std::int64_t place_unit_bytes = std::int64_t{1} << 10,
                       least_place_bytes = small_limit_bytes + place_unit_bytes;
/// Lists of segments that are tried in one walk, and walks.
constexpr int most_tries = 1000, most_walks = 12, most_walks_between = 60;
/// Blocks that a new place is for, and changes of a list at once.
constexpr std::size_t most_blocks = 4, most_changes = 2;
/// Units that one place gives to another.
constexpr std::size_t most_units_shifted = 8, most_units_between = 512;
/// The temperature of the annealing at its beginning, as a share of the requests.
constexpr double first_temperature = 0.002;

/// What lists of places are made of.
struct Places {
  std::int64_t bytes = 0;  // Of all together.
  std::int64_t unit_bytes = 0, least_bytes = 0;
  std::size_t most = 0, most_units_shifted = 0;
  std::vector<std::int64_t> sizes;  // Of blocks: places of one or a few of them are tried.
  int most_walks = 0;
  std::function<std::optional<LargeRequests::Refusal>(const std::vector<std::int64_t>&)> refusal;
};

/// Walks from one place to others; the later the first request is refused, the better.
class PlaceSearch {
 public:
  PlaceSearch(const LargeRequests& requests, Places places)
      : requests_(requests), places_(std::move(places)), whole_{places_.bytes}, at_(whole_) {}

  std::optional<std::vector<std::int64_t>> run(std::ptrdiff_t& most_requests) {
    for (int walk = 0; walk < places_.most_walks && most_requests > 0; ++walk)
      if (auto found = this->walk(most_requests)) return found;
    return std::nullopt;
  }

 private:
  std::optional<std::vector<std::int64_t>> walk(std::ptrdiff_t& most_requests) {
    for (int tried = 0; tried < most_tries && most_requests > 0; ++tried) {
      const std::vector<std::int64_t> segments = tried == 0 ? whole_ : changed();
      if (tried > 0 && segments == at_) continue;
      const std::optional<LargeRequests::Refusal> refusal = places_.refusal(segments);
      most_requests -= static_cast<std::ptrdiff_t>(refusal ? refusal->at + 1 : requests_.size());
      if (!refusal) return segments;
      const double share = 1 - static_cast<double>(tried) / most_tries;
      if (tried > 0 && !accepts(*refusal, share)) continue;
      at_ = segments;
      refusal_ = *refusal;
    }
    return std::nullopt;
  }

  std::size_t some(std::size_t count) { return random_() % count; }

  bool accepts(const LargeRequests::Refusal& refusal, double share) {
    if (refusal.at >= refusal_.at) return true;
    const double temperature = first_temperature * share * static_cast<double>(requests_.size());
    const double chance = std::exp(-static_cast<double>(refusal_.at - refusal.at) / temperature);
    constexpr std::size_t chances = 1'000'000;
    return static_cast<double>(some(chances)) < chance * chances;
  }

  std::vector<std::int64_t> changed() {
    std::vector<std::int64_t> segments = at_;
    for (std::size_t changes = 1 + some(most_changes); changes > 0; --changes) change(segments);
    std::ranges::sort(segments, std::greater());  // As a loop asks for them.
    return segments;
  }

  /// The block that found no room, or a few others, get a segment of their own; a segment is split
  /// somewhere; two become one; or one gives something to another.
  void change(std::vector<std::int64_t>& segments) {
    const std::size_t one = some(segments.size()), other = some(segments.size());
    switch (some(7)) {
      case 0:
        split(segments, one, round_up(refusal_.bytes, places_.unit_bytes));
        break;
      case 1:
        split(segments, one, some_blocks(1 + some(most_blocks)));
        break;
      case 2:
        split(segments, one, units(some(count_of_units(segments[one]))));
        break;
      case 3:
        if (one == other) break;
        segments[one] += segments[other];
        segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(other));
        break;
      case 4: {
        const std::int64_t given = some_blocks(1);
        shift(segments, other, one, given - some_blocks(some(2)));
        break;
      }
      default:
        shift(segments, other, one, units(1 + some(places_.most_units_shifted)));
    }
  }

  std::int64_t some_blocks(std::size_t count) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < count && !places_.sizes.empty(); ++i)
      bytes += round_up(places_.sizes[some(places_.sizes.size())], places_.unit_bytes);
    return bytes;
  }

  std::int64_t units(std::size_t count) const {
    return static_cast<std::int64_t>(count) * places_.unit_bytes;
  }
  std::size_t count_of_units(std::int64_t bytes) const {
    return static_cast<std::size_t>(bytes / places_.unit_bytes);
  }

  void split(std::vector<std::int64_t>& segments, std::size_t at, std::int64_t bytes) const {
    if (segments.size() == places_.most || bytes < places_.least_bytes ||
        segments[at] - bytes < places_.least_bytes)
      return;
    segments[at] -= bytes;
    segments.push_back(bytes);
  }

  void shift(std::vector<std::int64_t>& segments, std::size_t from, std::size_t to,
             std::int64_t bytes) const {
    if (from == to || segments[from] - bytes < places_.least_bytes ||
        segments[to] + bytes < places_.least_bytes)
      return;
    segments[from] -= bytes;
    segments[to] += bytes;
  }

  const LargeRequests& requests_;
  Places places_;
  std::vector<std::int64_t> whole_, at_;
  LargeRequests::Refusal refusal_;
  std::mt19937 random_;
};

}  // namespace

LargeRequests::LargeRequests(const Recording& recording, const DeviceSpec& device,
                             const LoopOptions& loop)
    : allocator_(loop.allocator) {
  read(trace_step_memory(recording, device, {.loop = loop, .steps = steps}));
}

void LargeRequests::read(const MemoryTrace& trace) {
  struct Live {
    std::size_t block = 0;
    std::int64_t bytes = 0;
  };
  std::unordered_map<Address, Live> live;
  std::set<std::int64_t> own, sizes;
  std::int64_t held = 0;
  bool is_before = true;  // The first batch.
  for (const MemoryTrace::Entry& entry : trace.entries) {
    const AllocatorEvent& event = entry.event;
    is_before = is_before && entry.call == none && entry.category != MemoryCategory::inputs;
    if (event.action == AllocatorAction::alloc) {
      const std::int64_t rounded = rounded_size(event.bytes, allocator_);
      if (rounded <= small_limit_bytes) continue;
      live[event.address] = {blocks_, rounded};
      requests_.push_back({blocks_++, rounded});
      highest_bytes_ = std::max(highest_bytes_, held += rounded);
      if (is_before) {
        first_count_ = requests_.size();
        first_blocks_ = blocks_;
        first_bytes_ = held;
        if (entry.category == MemoryCategory::optimizer ||
            entry.category == MemoryCategory::workspace)
          ++separators_;
      }
      sizes.insert(rounded);
      if (rounded >= own_segment_from_bytes) own.insert(segment_size(rounded, allocator_));
    } else if (event.action == AllocatorAction::free) {
      const auto found = live.find(event.address);
      if (found == live.end()) continue;
      requests_.push_back({found->second.block, 0});
      held -= found->second.bytes;
      live.erase(found);
    }
  }
  own_segments_.assign(own.begin(), own.end());
  sizes_.assign(sizes.begin(), sizes.end());
  for (const SegmentState& segment : trace.segments)
    if (segment.is_small) small_segments_bytes_ += segment.bytes;
}

std::optional<LargeRequests::Refusal> LargeRequests::refusal(
    const std::vector<std::int64_t>& up_front_bytes) const {
  return refusal_from(0, up_front_bytes);
}

std::optional<LargeRequests::Refusal> LargeRequests::refusal_between(
    const std::vector<std::int64_t>& place_bytes) const {
  return refusal_from(first_count_, place_bytes);
}

std::optional<LargeRequests::Refusal> LargeRequests::refusal_from(
    std::size_t first, const std::vector<std::int64_t>& place_bytes) const {
  LargePool pool(place_bytes, blocks_);
  for (std::size_t i = first; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    if (first > 0 && request.bytes == 0 && request.block < first_blocks_)
      continue;  // It keeps its place between those that are asked for.
    if (request.bytes == 0)
      pool.free(request.block);
    else if (!pool.allocate(request.block, request.bytes))
      return Refusal{i - first, request.bytes};
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> find_up_front_segments(const LargeRequests& requests,
                                                                std::int64_t bytes,
                                                                std::ptrdiff_t& most_requests) {
  const std::int64_t whole = bytes / own_segment_unit_bytes * own_segment_unit_bytes;
  if (whole < std::max(requests.highest_bytes(), own_segment_from_bytes)) return std::nullopt;
  const auto refusal = [&](const std::vector<std::int64_t>& each) {
    return requests.refusal(each);
  };
  return PlaceSearch(requests,
                     {whole, own_segment_unit_bytes, own_segment_from_bytes, most_segments,
                      most_units_shifted, requests.own_segments(), most_walks, refusal})
      .run(most_requests);
}

/// The largest place is what is left behind the last block.
std::optional<std::vector<std::int64_t>> find_spacers(const LargeRequests& requests,
                                                      std::int64_t bytes,
                                                      std::ptrdiff_t& most_requests) {
  const std::int64_t rest = bytes - requests.first_bytes();
  if (bytes < requests.highest_bytes() || rest < least_place_bytes) return std::nullopt;
  const std::size_t most = std::min(most_segments, requests.separators() + 1);
  const auto refusal = [&](std::vector<std::int64_t> places) {
    std::rotate(places.begin(), places.begin() + 1, places.end());  // As they lie.
    return requests.refusal_between(places);
  };
  std::optional<std::vector<std::int64_t>> found =
      PlaceSearch(requests, {rest, place_unit_bytes, least_place_bytes, most, most_units_between,
                             requests.sizes(), most_walks_between, refusal})
          .run(most_requests);
  if (found) found->erase(found->begin());
  return found;
}

}  // namespace symprof::profile
