// A measured history beside a predicted one.
#include "snapshot/prediction.h"

#include <doctest/doctest.h>

#include "tests/snapshot/made_snapshot.h"

namespace symprof::snapshot {
namespace {

/// Blocks of the sizes in MiB, of one line each, which the program holds at the same time.
void add_step(MadeSnapshot& snapshot, const std::vector<StackId>& lines,
              const std::vector<std::int64_t>& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    snapshot.alloc(static_cast<std::int64_t>(i + 1) * 64, sizes[i] * mib, lines[i]);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    snapshot.free(static_cast<std::int64_t>(i + 1) * 64, sizes[i] * mib);
}

std::vector<StackId> lines_of(MadeSnapshot& snapshot) {
  std::vector<StackId> lines;
  for (std::int64_t line = 11; line < 20; ++line) lines.push_back(snapshot.line(line));
  return lines;
}

Snapshot steps_of(std::int64_t weights, const std::vector<std::vector<std::int64_t>>& steps) {
  MadeSnapshot snapshot;
  snapshot.alloc(0, weights * mib, snapshot.line(1, "__init__"));
  const std::vector<StackId> lines = lines_of(snapshot);
  for (const std::vector<std::int64_t>& sizes : steps) add_step(snapshot, lines, sizes);
  return std::move(snapshot.made);
}

std::int64_t difference_of(const Prediction& prediction) {
  std::int64_t bytes = 0;
  for (const PeakDifference& difference : prediction.differences) bytes += difference.bytes();
  return bytes;
}

Prediction compare_histories(const Snapshot& measured, const Snapshot& predicted) {
  const Sites sites(measured), other_sites(predicted);
  const DeviceAnswer one = analyze(measured, sites, 0), other = analyze(predicted, other_sites, 0);
  Prediction prediction =
      compare_with_prediction({measured, sites, one}, {predicted, other_sites, other});
  CHECK(difference_of(prediction) ==
        prediction.predicted.allocated.bytes - prediction.measured.allocated.bytes);
  return prediction;
}

}  // namespace

TEST_SUITE("snapshot_prediction") {
  TEST_CASE("a recording of one step finds it among those of the loop") {
    MadeSnapshot measured;
    add_step(measured, lines_of(measured), {8, 4, 16});
    const Prediction prediction =
        compare_histories(measured.made, steps_of(32, {{8, 4, 16, 64}, {8, 4, 16}, {8, 4, 16}}));
    CHECK(prediction.measured_step == -1);
    CHECK(prediction.equal_requests == 3);
    CHECK(prediction.equal_share() == 1);
    CHECK(prediction.differing.empty());
    CHECK(prediction.predicted.allocated.bytes == (32 + 8 + 4 + 16) * mib);
    REQUIRE(prediction.differences.size() == 1);
    CHECK(prediction.differences[0].cause == PeakCause::before_part);
    CHECK(prediction.differences[0].bytes() == 32 * mib);
  }

  TEST_CASE("of a recording with steps, the last whole one is compared") {
    const Snapshot measured =
        steps_of(32, {{8, 4, 16, 64}, {8, 4, 16}, {8, 4, 16}, {8, 4, 16}, {8, 4, 16}});
    const Prediction prediction =
        compare_histories(measured, steps_of(32, {{8, 4, 16, 64}, {8, 4, 16}, {8, 4, 16}}));
    CHECK(prediction.measured_step == 3);
    CHECK(prediction.measured.requests.size() == 3);
    CHECK(prediction.equal_share() == 1);
    CHECK(prediction.measured.allocated.bytes == prediction.predicted.allocated.bytes);
    CHECK(prediction.differences.empty());
  }

  TEST_CASE("what differs, first in order, and the largest first") {
    const Prediction prediction =
        compare_histories(steps_of(32, {{8, 4, 16, 2, 3}}), steps_of(32, {{24, 8, 6, 16, 3}}));
    REQUIRE(prediction.differing.size() == 3);
    CHECK(prediction.equal_requests == 4);  // 32, 8, 16 and 3
    CHECK(prediction.differing[0].measured == no_request);
    CHECK(prediction.differing[0].predicted == 1);
    CHECK(prediction.differing[1].measured == 2);
    CHECK(prediction.differing[1].predicted == 3);
    CHECK(prediction.differing[2].measured == 4);
    CHECK(prediction.differing[2].predicted == no_request);
    REQUIRE(prediction.differences.size() == 3);
    CHECK(prediction.differences[0].cause == PeakCause::predicted_only);
    CHECK(prediction.differences[0].bytes() == 24 * mib);
    CHECK(prediction.differences[1].bytes() == 2 * mib);
    CHECK(prediction.differences[1].cause == PeakCause::other_size);
    CHECK(prediction.differences[1].measured == "model.py:12 forward");
    CHECK(prediction.differences[2].cause == PeakCause::measured_only);
    CHECK(prediction.differences[2].bytes() == -2 * mib);
  }

  TEST_CASE("an equal request that lives longer") {
    MadeSnapshot measured, predicted;
    for (MadeSnapshot* snapshot : {&measured, &predicted}) {
      snapshot->alloc(64, 8 * mib, snapshot->line(11));
      if (snapshot == &measured) snapshot->free(64, 8 * mib);
      snapshot->alloc(128, 4 * mib, snapshot->line(12));
      snapshot->alloc(192, 8 * mib, snapshot->line(13));
    }
    const Prediction prediction = compare_histories(measured.made, predicted.made);
    CHECK(prediction.equal_share() == 1);
    REQUIRE(prediction.differences.size() == 1);
    CHECK(prediction.differences[0].cause == PeakCause::other_moment);
    CHECK(prediction.differences[0].predicted_bytes == 8 * mib);
    CHECK(prediction.differences[0].measured_bytes == 0);
  }

  TEST_CASE("what is held at the start is known where nothing is asked for") {
    MadeSnapshot snapshot;
    snapshot.free(0, 8 * mib);
    const Sites sites(snapshot.made);
    const DeviceAnswer answer = analyze(snapshot.made, sites, 0);
    CHECK(answer.history.allocated.bytes == 8 * mib);
    REQUIRE(answer.lines_at_peak.size() == 1);
    CHECK(answer.lines_at_peak[0].bytes == 8 * mib);
  }
}

}  // namespace symprof::snapshot
