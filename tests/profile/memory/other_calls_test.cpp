#include "profile/memory/other_calls.h"

#include <doctest/doctest.h>

#include "profile/memory/last_use_peak.h"
#include "tests/support/recording_builder.h"
#include "trace/torchscript/load.h"

namespace symprof::test {
namespace {

constexpr std::int64_t unit = 512;

/// A step that trains: the forward pass makes 10, 20 and 30 blocks; the second call needs the first
/// ones last, and they are freed when `freed_by` has run.
Recording step_with_name(CallId freed_by) {
  RecordingBuilder builder;
  const NodeId node = builder.node("node");
  const StorageId first = builder.storage({.bytes = 10 * unit});
  const StorageId second = builder.storage({.bytes = 20 * unit});
  const StorageId third = builder.storage({.bytes = 30 * unit});
  const auto made = [](StorageId storage) { return TensorRecord{.storage = storage}; };
  builder.call_on("aten::relu", {}, {made(first)}, node);
  builder.call_on("aten::relu", {made(first)}, {made(second)}, node);
  builder.call_on("aten::relu", {made(second)}, {made(third)}, node);
  const CallId backward = builder.call_on("aten::relu", {}, {}, node, Phase::backward);
  builder.event(EventKind::allocate, first, 0);
  builder.event(EventKind::allocate, second, 1);
  if (freed_by == 1) builder.event(EventKind::free, first, 1);
  builder.event(EventKind::allocate, third, 2);
  if (freed_by == 2) builder.event(EventKind::free, first, 2);
  for (const StorageId storage : {second, third}) builder.event(EventKind::free, storage, backward);
  Recording recording = builder.recording();
  recording.traits = trace::script_traits;
  recording.names_are_guessed = true;
  return recording;
}

}  // namespace

TEST_SUITE("other_calls") {
  TEST_CASE("the peak if values are freed at their last use") {
    const profile::PeakWithLastUses peaks = profile::peak_with_last_uses(step_with_name(2));
    CHECK(peaks.found == 60 * unit);
    CHECK(peaks.at_last_uses == 50 * unit);
    CHECK(profile::peak_with_last_uses(step_with_name(1)).found == 50 * unit);
  }

  TEST_CASE("guessed variables of a trace may raise the peak") {
    CHECK(profile::other_calls(step_with_name(2)).guesses_names());
    CHECK_FALSE(profile::other_calls(step_with_name(1)).may_differ());
    Recording known = step_with_name(2);
    known.names_are_guessed = false;
    CHECK_FALSE(profile::other_calls(known).may_differ());
  }
}

}  // namespace symprof::test
