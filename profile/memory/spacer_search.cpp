#include "profile/memory/spacer_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/rounding.h"
#include "profile/memory/large_pool.h"
#include "profile/memory/step_memory.h"

namespace symprof::profile {
namespace {

/// As many as a loop needs until its blocks lie where they did a step ago.
constexpr int steps = 4;
/// What spacers are multiples of, and the least that no segment for small blocks holds.
constexpr std::int64_t spacer_unit_bytes = std::int64_t{1} << 10,
                       least_spacer_bytes = small_limit_bytes + spacer_unit_bytes;
/// Lists of spacers that are tried in one walk.
constexpr int most_tries = 2000;
/// Changes of a list at once, blocks that a new spacer is as large as, places that it lasts, places
/// by which an end moves, and units by which a size changes.
constexpr std::size_t most_changes = 2, most_blocks = 4, most_lasting = 8, most_moved = 4,
                      most_units = 512;
/// The temperature of the annealing at its beginning, as a share of the segment.
constexpr double first_temperature = 3e-4;

/// A spacer comes or goes.
struct Turn {
  std::size_t place = 0;
  bool is_begin = false;
  std::size_t spacer = 0;
};

/// In their order: at one place, what ends goes first.

std::vector<Turn> turns_of(const std::vector<LargeRequests::Placed>& spacers) {
  std::vector<Turn> turns;
  turns.reserve(2 * spacers.size());
  for (std::size_t i = 0; i < spacers.size(); ++i) {
    turns.push_back({spacers[i].from, true, i});
    turns.push_back({spacers[i].until, false, i});
  }
  std::ranges::sort(turns, {}, [](const Turn& turn) {
    return std::tuple(turn.place, turn.is_begin, turn.spacer);
  });
  return turns;
}

/// A pool that grows where a block finds no room.
class GrowingPool {
 public:
  GrowingPool(std::int64_t bytes, std::size_t blocks) : pool_({bytes}, blocks) {}

  void allocate(std::size_t block, std::int64_t bytes) {
    if (pool_.allocate(block, bytes)) return;
    grown_bytes_ += pool_.grow_for(bytes);
    pool_.allocate(block, bytes);
  }
  void free(std::size_t block) { pool_.free(block); }
  std::int64_t grown_bytes() const { return grown_bytes_; }

 private:
  LargePool pool_;
  std::int64_t grown_bytes_ = 0;
};

/// Simulated annealing: lists of spacers from which little is missing follow on each other.
class SpacerSearch {
 public:
  using Placed = LargeRequests::Placed;
  using List = std::vector<Placed>;

  SpacerSearch(const LargeRequests& requests, std::int64_t bytes, std::size_t most_spacers)
      : requests_(requests), bytes_(bytes), most_spacers_(most_spacers) {}

  std::optional<List> run(std::ptrdiff_t& most_requests) {
    while (most_requests > 0)
      if (auto found = walk(most_requests)) return without_needless(*found);
    return std::nullopt;
  }

 private:
  std::optional<List> walk(std::ptrdiff_t& most_requests) {
    List at;
    std::int64_t missing_bytes = std::numeric_limits<std::int64_t>::max();
    for (int tried = 0; tried < most_tries && most_requests > 0; ++tried) {
      List list = tried == 0 ? at : changed(at);
      if (tried > 0 && list == at) continue;
      const double share = 1 - static_cast<double>(tried) / most_tries;
      const std::int64_t most = tried == 0 ? missing_bytes : missing_bytes + allowance_bytes(share);
      const LargeRequests::Played played = requests_.play(list, bytes_, most);
      most_requests -= played.requests;
      if (played.missing_bytes == 0) return list;
      if (played.missing_bytes > most) continue;
      at = std::move(list);
      missing_bytes = played.missing_bytes;
    }
    return std::nullopt;
  }

  List without_needless(List list) const {
    for (std::size_t i = list.size(); i-- > 0;) {
      List shorter = list;
      shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
      if (requests_.play(shorter, bytes_, 0).missing_bytes == 0) list = std::move(shorter);
    }
    return list;
  }

  std::size_t some(std::size_t count) { return random_() % count; }

  /// How much more may be missing than before: drawn first, so that a list that is not taken is not
  /// played to its end.
  std::int64_t allowance_bytes(double share) {
    constexpr std::size_t chances = 1'000'000;
    const double chance = static_cast<double>(1 + some(chances)) / chances;
    const double temperature_bytes = first_temperature * share * static_cast<double>(bytes_);
    return static_cast<std::int64_t>(-std::log(chance) * temperature_bytes);
  }

  List changed(List list) {
    for (std::size_t changes = 1 + some(most_changes); changes > 0; --changes) change(list);
    return list;
  }

  void change(List& list) {
    constexpr std::size_t adding = 3, removing = 5, moving = 7, kinds = 8;  // Their shares, summed.
    const std::size_t kind = some(kinds);
    if (kind < adding) return add(list);
    if (list.empty()) return;
    const std::size_t at = some(list.size());
    if (kind < removing)
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    else if (kind < moving)
      move_end(list[at]);
    else
      resize(list[at]);
  }

  /// As large as a few blocks, and often a bit larger.
  void add(List& list) {
    const std::size_t from = some(places()), until = from + 1 + some(most_lasting);
    std::int64_t bytes = 0;
    for (std::size_t blocks = 1 + some(most_blocks); blocks > 0; --blocks) bytes += some_block();
    if (some(3) == 0) bytes += some_units();
    if (list.size() < most_spacers_ && from + 1 < places())
      list.push_back({round_up_to_unit(bytes), from, std::min(until, places() - 1)});
  }

  void move_end(Placed& spacer) {
    const bool is_begin = some(2) == 0;
    const std::size_t end = is_begin ? spacer.from : spacer.until, by = 1 + some(most_moved);
    std::size_t place = some(2) == 0 ? end + by : end - std::min(end, by);
    if (some(4) == 0) place = some(places());
    if (place >= places() || (is_begin ? place >= spacer.until : place <= spacer.from)) return;
    (is_begin ? spacer.from : spacer.until) = place;
  }

  void resize(Placed& spacer) {
    const std::int64_t by = some(3) == 0 ? some_units() : round_up_to_unit(some_block());
    const std::int64_t bytes = spacer.bytes + (some(2) == 0 ? by : -by);
    if (bytes >= least_spacer_bytes) spacer.bytes = bytes;
  }

  std::size_t places() const { return requests_.places().size(); }
  std::int64_t some_block() { return requests_.sizes()[some(requests_.sizes().size())]; }
  std::int64_t some_units() {
    return static_cast<std::int64_t>(1 + some(most_units)) * spacer_unit_bytes;
  }
  static std::int64_t round_up_to_unit(std::int64_t bytes) {
    return round_up(bytes, spacer_unit_bytes);
  }

  const LargeRequests& requests_;
  std::int64_t bytes_;
  std::size_t most_spacers_;
  std::mt19937 random_;
};

}  // namespace

LargeRequests::LargeRequests(const Recording& recording, const DeviceSpec& device,
                             const LoopOptions& loop)
    : allocator_(loop.allocator) {
  const std::vector<ModuleBegin> begins = module_begins(recording);
  read(trace_step_memory(recording, device, {.loop = loop, .steps = steps}), begins);
  choose_places(begins);
}

void LargeRequests::read(const MemoryTrace& trace, const std::vector<ModuleBegin>& begins) {
  struct Live {
    std::size_t block = 0;
    std::int64_t bytes = 0;
  };
  std::unordered_map<Address, Live> live;
  std::set<std::int64_t> sizes;
  std::int64_t held = 0;
  CallId last = none;
  passes_.emplace_back();
  for (const MemoryTrace::Entry& entry : trace.entries) {
    if (entry.call != none) note_begins(begins, entry.call, std::exchange(last, entry.call));
    const AllocatorEvent& event = entry.event;
    if (event.action == AllocatorAction::alloc) {
      const std::int64_t rounded = rounded_size(event.bytes, allocator_);
      if (rounded <= small_limit_bytes) continue;
      live[event.address] = {blocks_, rounded};
      requests_.push_back({blocks_++, rounded});
      highest_bytes_ = std::max(highest_bytes_, held += rounded);
      sizes.insert(rounded);
    } else if (event.action == AllocatorAction::free) {
      const auto found = live.find(event.address);
      if (found == live.end()) continue;
      requests_.push_back({found->second.block, 0});
      held -= found->second.bytes;
      live.erase(found);
    }
  }
  passes_.back().before.resize(begins.size(), requests_.size());
  sizes_.assign(sizes.begin(), sizes.end());
  for (const SegmentState& segment : trace.segments)
    if (segment.is_small) small_segments_bytes_ += segment.bytes;
}

void LargeRequests::note_begins(const std::vector<ModuleBegin>& begins, CallId call, CallId last) {
  if (call < last) {
    passes_.back().before.resize(begins.size(), requests_.size());
    passes_.push_back({.begin = requests_.size()});
  }
  std::vector<std::size_t>& before = passes_.back().before;
  while (before.size() < begins.size() && begins[before.size()].call <= call)
    before.push_back(requests_.size());
}

/// Modules that begin between the same two requests are one place, the first one.
void LargeRequests::choose_places(const std::vector<ModuleBegin>& begins) {
  std::vector<std::size_t> chosen;
  const std::vector<std::size_t>& before = passes_.back().before;
  for (std::size_t i = 0; i < begins.size(); ++i)
    if (i == 0 || before[i] != before[i - 1]) chosen.push_back(i);
  for (const std::size_t i : chosen) places_.push_back(begins[i].path);
  for (Pass& pass : passes_) {
    std::vector<std::size_t> of_chosen(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) of_chosen[i] = pass.before[chosen[i]];
    pass.before = std::move(of_chosen);
  }
}

LargeRequests::Played LargeRequests::play(const std::vector<Placed>& spacers, std::int64_t bytes,
                                          std::int64_t most_missing_bytes) const {
  GrowingPool pool(bytes, blocks_ + spacers.size());
  const std::vector<Turn> turns = turns_of(spacers);
  const auto take = [&](const Turn& turn) {
    const std::size_t block = blocks_ + turn.spacer;
    turn.is_begin ? pool.allocate(block, spacers[turn.spacer].bytes) : pool.free(block);
  };
  std::ptrdiff_t played = 0;
  for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
    const std::size_t end = pass + 1 < passes_.size() ? passes_[pass + 1].begin : requests_.size();
    auto turn = turns.begin();
    const auto take_until = [&](std::size_t request) {
      for (; turn != turns.end() && passes_[pass].before[turn->place] <= request; ++turn)
        take(*turn);
    };
    for (std::size_t i = passes_[pass].begin; i < end; ++i, ++played) {
      if (pool.grown_bytes() > most_missing_bytes) return {pool.grown_bytes(), played};
      take_until(i);
      const Request& request = requests_[i];
      request.bytes == 0 ? pool.free(request.block) : pool.allocate(request.block, request.bytes);
    }
    take_until(end);
  }
  return {pool.grown_bytes(), played};
}

std::optional<std::vector<Spacer>> find_spacers(const LargeRequests& requests, std::int64_t bytes,
                                                std::size_t most_spacers,
                                                std::ptrdiff_t& most_requests) {
  if (bytes < requests.highest_bytes() || requests.places().empty()) return std::nullopt;
  const auto found = SpacerSearch(requests, bytes, most_spacers).run(most_requests);
  if (!found) return std::nullopt;
  std::vector<Spacer> spacers;
  for (const LargeRequests::Placed& one : *found)
    spacers.push_back({one.bytes, requests.places()[one.from], requests.places()[one.until]});
  return spacers;
}

}  // namespace symprof::profile
