#include "profile/memory/run/run_memory.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "profile/memory/run/recording_tapes.h"
#include "profile/memory/step_memory.h"
#include "tests/support/training_step.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t mib = 1 << 20;

using Kind = BlockEvent::Kind;

BlockEvent take(Address address, std::int64_t bytes,
                MemoryCategory category = MemoryCategory::temporaries) {
  return {.kind = Kind::take, .category = category, .address = address, .bytes = bytes};
}
BlockEvent give_back(Address address) { return {.kind = Kind::give_back, .address = address}; }

/// Weights, then steps: a batch is made before the last one goes, and a temporary comes and goes.
struct Steps {
  std::vector<BlockEvent> events{take(1, 4 * mib, MemoryCategory::parameters)};
  std::vector<std::size_t> ends;

  void add(Address batch, Address last, std::int64_t bytes) {
    ends.push_back(events.size());
    events.push_back(take(batch, bytes, MemoryCategory::inputs));
    if (last != 0) events.push_back(give_back(last));
    events.push_back(take(9, 3 * bytes));
    events.push_back(give_back(9));
  }
  std::vector<StepTape> cut() {
    ends.push_back(events.size());
    return cut_into_tapes(events, ends);
  }
};

}  // namespace

TEST_SUITE_BEGIN("run_memory");

TEST_CASE("a step gives back what the step before it left, of whichever shape that was") {
  Steps steps;
  steps.add(2, 0, 2 * mib);   // Tape 1.
  steps.add(3, 2, 12 * mib);  // Tape 2.
  steps.add(2, 3, 2 * mib);   // Tape 3, as tape 1 but in the midst of the loop.
  steps.add(3, 2, 2 * mib);   // Not to be used.
  const std::vector<StepTape> tapes = steps.cut();
  const std::vector<std::int32_t> order{0, 1, 3, 2, 2, 3};
  const RunMemory memory = play_run(tapes, order, {});
  REQUIRE(memory.rows.size() == order.size());
  CHECK_FALSE(memory.refused);
  CHECK(memory.unmatched_blocks == 0);
  const std::int64_t batches[] = {0, 2, 2, 12, 12, 2};
  for (std::size_t i = 0; i < order.size(); ++i)
    CHECK(memory.rows[i].allocated_bytes == (4 + batches[i]) * mib);
  // Both batches, or the new batch and its temporary.
  CHECK(memory.rows[4].peak_allocated_bytes == (4 + 12 + 36) * mib);
}

TEST_CASE("a run ends where a request is refused") {
  Steps steps;
  steps.add(2, 0, 2 * mib);
  steps.add(3, 2, 12 * mib);
  steps.add(2, 3, 2 * mib);
  const std::vector<StepTape> tapes = steps.cut();
  const std::vector<std::int32_t> order{0, 1, 2};
  const RunMemory memory = play_run(tapes, order, {.device_bytes = 50 * mib});
  REQUIRE(memory.refused);
  CHECK(memory.refused->row == 2);
  CHECK(memory.refused->bytes == 36 * mib);
  CHECK(memory.rows.size() == 3);
}

TEST_CASE("a step as a function leaves nothing, and takes nothing away") {
  Steps steps;
  steps.add(2, 0, 2 * mib);
  steps.add(3, 2, 12 * mib);
  steps.add(2, 3, 2 * mib);
  std::vector<StepTape> tapes = steps.cut();
  tapes[2] = as_function(tapes[2]);
  const std::vector<std::int32_t> order{0, 1, 2, 2};
  const RunMemory memory = play_run(tapes, order, {});
  for (std::size_t i = 1; i < order.size(); ++i)
    CHECK(memory.rows[i].allocated_bytes == (4 + 2) * mib);
  // The batch of the step before it is still there, beside its own and the temporary.
  CHECK(memory.rows[3].peak_allocated_bytes == (4 + 2 + 12 + 36) * mib);
  CHECK(memory.unmatched_blocks == 0);
}

TEST_CASE("a run of one shape is the loop that step_memory simulates") {
  test::TrainingStep step;
  const Recording& recording = step.recording();
  for (const int passes : {1, 2, 4}) {
    const LoopOptions loop{.micro_batches = passes};
    const StepTapes tapes = tapes_of_recording(recording, {}, loop);
    RunPlayer player({});
    CHECK(player.play(tapes.before));
    std::int64_t allocated = 0, reserved = 0;
    for (int update = 0; update < 3; ++update)
      for (int pass = 0; pass < passes; ++pass) {
        CHECK(player.play(tapes.of(update == 0, pass, passes)));
        allocated = std::max(allocated, player.row().peak_allocated_bytes);
        reserved = std::max(reserved, player.row().peak_reserved_bytes);
      }
    const StepMemory memory = simulate_step_memory(recording, {}, {.loop = loop, .steps = 3});
    CHECK(allocated == memory.peak_allocated_bytes);
    CHECK(reserved == memory.peak_reserved_bytes);
    CHECK(player.row().allocated_bytes == memory.allocated_bytes);
    CHECK(player.unmatched_blocks() == 0);
  }
}

TEST_SUITE_END();

}  // namespace symprof::profile
