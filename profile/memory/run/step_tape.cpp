#include "profile/memory/run/step_tape.h"

#include <array>
#include <unordered_map>

namespace symprof::profile {
namespace {

constexpr std::size_t never = static_cast<std::size_t>(-1);

/// Blocks that are neither inputs nor gradients are told apart by their order alone: whether a
/// result is saved is another question in each step.
MemoryCategory category_of_carried(MemoryCategory category) {
  const bool is_told_apart =
      category == MemoryCategory::inputs || category == MemoryCategory::gradients;
  return is_told_apart ? category : MemoryCategory::temporaries;
}

class Cutter {
 public:
  Cutter(std::span<const BlockEvent> events, std::span<const std::size_t> ends)
      : events_(events), ends_(ends), freed_at_(events.size(), never) {
    std::unordered_map<Address, std::size_t> live;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind == BlockEvent::Kind::take) live[events[i].address] = i;
      if (events[i].kind == BlockEvent::Kind::give_back) freed_at_[live.at(events[i].address)] = i;
    }
  }

  std::vector<StepTape> cut() {
    std::vector<StepTape> tapes;
    for (const std::size_t end : ends_) {
      tape_ = {};
      ordinals_.fill(0);
      end_ = end;
      for (; next_ < end; ++next_) add(events_[next_]);
      tapes.push_back(std::move(tape_));
    }
    return tapes;
  }

 private:
  struct Live {
    std::int32_t slot = 0;
    BlockKey key;
    bool is_carried = false;
  };

  void add(const BlockEvent& event) {
    switch (event.kind) {
      case BlockEvent::Kind::take:
        return take(event);
      case BlockEvent::Kind::give_back:
        return give_back(event);
      case BlockEvent::Kind::empty_cache:
        tape_.events.push_back({.kind = TapeEvent::Kind::empty_cache});
    }
  }

  void take(const BlockEvent& event) {
    const std::size_t freed = freed_at_[next_];
    TapeEvent made{.bytes = event.bytes, .stream = event.stream};
    Live live;
    if (freed == never) {
      made = {TapeEvent::Kind::take_kept, event.category,
              next_key(kept_ordinals_, event.category, /*is_kept=*/true).ordinal, event.bytes,
              event.stream};
    } else {
      made.number = live.slot = tape_.slots++;
    }
    if (freed != never && freed >= end_) {
      live.is_carried = true;
      live.key = next_key(ordinals_, category_of_carried(event.category), /*is_kept=*/false);
      tape_.carried.push_back({live.slot, live.key});
    }
    tape_.events.push_back(made);
    live_[event.address] = live;
    if (freed != never) step_of_[event.address] = end_;
  }

  void give_back(const BlockEvent& event) {
    const Live live = live_.at(event.address);
    const bool is_of_this_step = step_of_.at(event.address) == end_;
    if (is_of_this_step)
      tape_.events.push_back({.kind = TapeEvent::Kind::give_back, .number = live.slot});
    else
      tape_.events.push_back({.kind = TapeEvent::Kind::give_back_carried,
                              .category = live.key.category,
                              .number = live.key.ordinal});
    live_.erase(event.address);
  }

  using Ordinals = std::array<std::int32_t, memory_categories>;

  static BlockKey next_key(Ordinals& ordinals, MemoryCategory category, bool is_kept) {
    return {category, is_kept, ordinals[static_cast<std::size_t>(category)]++};
  }

  std::span<const BlockEvent> events_;
  std::span<const std::size_t> ends_;
  std::vector<std::size_t> freed_at_;  // By event that takes a block.
  std::size_t next_ = 0, end_ = 0;
  StepTape tape_;
  Ordinals ordinals_{}, kept_ordinals_{};
  std::unordered_map<Address, Live> live_;
  std::unordered_map<Address, std::size_t> step_of_;  // The end of the step that took the block.
};

}  // namespace

std::vector<StepTape> cut_into_tapes(std::span<const BlockEvent> events,
                                     std::span<const std::size_t> ends) {
  return Cutter(events, ends).cut();
}

StepTape as_function(StepTape tape) {
  std::erase_if(tape.events, [](const TapeEvent& event) {
    return event.kind == TapeEvent::Kind::give_back_carried;
  });
  for (const StepTape::Carried& held : tape.carried)
    tape.events.push_back({.kind = TapeEvent::Kind::give_back, .number = held.slot});
  tape.carried.clear();
  return tape;
}

}  // namespace symprof::profile
