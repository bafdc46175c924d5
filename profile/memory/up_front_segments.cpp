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
/// Lists of segments that are tried in one walk, and walks.
constexpr int most_tries = 1000, most_walks = 12;
/// By how many units two segments differ more or less after a change.
constexpr std::size_t most_units_shifted = 8;
/// The temperature of the annealing at its beginning, as a share of the requests.
constexpr double first_temperature = 0.01;

/// Walks from one segment to others; the later the first request is refused, the better.
class SegmentSearch {
 public:
  SegmentSearch(const LargeRequests& requests, std::int64_t bytes)
      : requests_(requests),
        whole_{bytes / own_segment_unit_bytes * own_segment_unit_bytes},
        at_(whole_) {}

  std::optional<std::vector<std::int64_t>> run(std::ptrdiff_t& most_requests) {
    if (whole_.front() < std::max(requests_.highest_bytes(), own_segment_from_bytes))
      return std::nullopt;
    for (int walk = 0; walk < most_walks; ++walk)
      if (auto found = this->walk(most_requests)) return found;
    return std::nullopt;
  }

 private:
  std::optional<std::vector<std::int64_t>> walk(std::ptrdiff_t& most_requests) {
    for (int tried = 0; tried < most_tries && most_requests > 0; ++tried) {
      const std::vector<std::int64_t> segments = tried == 0 ? whole_ : changed();
      if (tried > 0 && segments == at_) continue;
      const std::optional<LargeRequests::Refusal> refusal = requests_.refusal(segments);
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

  /// The block that found no room, or another large one, gets a segment of its own; a segment is
  /// split somewhere; two become one; or one gives something to another.
  std::vector<std::int64_t> changed() {
    std::vector<std::int64_t> segments = at_;
    const std::size_t one = some(segments.size()), other = some(segments.size());
    const std::vector<std::int64_t>& own = requests_.own_segments();
    switch (some(6)) {
      case 0:
        split(segments, one, round_up(refusal_.bytes, own_segment_unit_bytes));
        break;
      case 1:
        if (!own.empty()) split(segments, one, own[some(own.size())]);
        break;
      case 2:
        split(segments, one, units(some(count_of_units(segments[one]))));
        break;
      case 3:
        if (one == other) break;
        segments[one] += segments[other];
        segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(other));
        break;
      default:
        const std::int64_t given = units(1 + some(most_units_shifted));
        if (one == other || segments[other] - given < own_segment_from_bytes) break;
        segments[one] += given;
        segments[other] -= given;
    }
    std::ranges::sort(segments, std::greater());  // As a loop asks for them.
    return segments;
  }

  static std::int64_t units(std::size_t count) {
    return static_cast<std::int64_t>(count) * own_segment_unit_bytes;
  }
  static std::size_t count_of_units(std::int64_t bytes) {
    return static_cast<std::size_t>(bytes / own_segment_unit_bytes);
  }

  static void split(std::vector<std::int64_t>& segments, std::size_t at, std::int64_t bytes) {
    if (segments.size() == most_segments || bytes < own_segment_from_bytes ||
        segments[at] - bytes < own_segment_from_bytes)
      return;
    segments[at] -= bytes;
    segments.push_back(bytes);
  }

  const LargeRequests& requests_;
  std::vector<std::int64_t> whole_, at_;
  LargeRequests::Refusal refusal_;
  std::minstd_rand random_;
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
  std::set<std::int64_t> own;
  std::int64_t held = 0;
  for (const MemoryTrace::Entry& entry : trace.entries) {
    const AllocatorEvent& event = entry.event;
    if (event.action == AllocatorAction::alloc) {
      const std::int64_t rounded = rounded_size(event.bytes, allocator_);
      if (rounded <= small_limit_bytes) continue;
      live[event.address] = {blocks_, rounded};
      requests_.push_back({blocks_++, rounded});
      highest_bytes_ = std::max(highest_bytes_, held += rounded);
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
  for (const SegmentState& segment : trace.segments)
    if (segment.is_small) small_segments_bytes_ += segment.bytes;
}

std::optional<LargeRequests::Refusal> LargeRequests::refusal(
    const std::vector<std::int64_t>& up_front_bytes) const {
  LargePool pool(up_front_bytes, blocks_);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Request& request = requests_[i];
    if (request.bytes == 0)
      pool.free(request.block);
    else if (!pool.allocate(request.block, request.bytes))
      return Refusal{i, request.bytes};
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> find_up_front_segments(const LargeRequests& requests,
                                                                std::int64_t bytes,
                                                                std::ptrdiff_t& most_requests) {
  return SegmentSearch(requests, bytes).run(most_requests);
}

}  // namespace symprof::profile
