#include "profile/memory/peak_uncertainty.h"

#include <doctest/doctest.h>

#include "tests/support/recording_builder.h"
#include "trace/exported/reader.h"

namespace symprof::test {
namespace {

constexpr std::int64_t block = 512;

/// Three nodes make `first`, `second` and `third` blocks, each freed before the next is allocated.
/// The first may live until node `until`.
Recording three_nodes(std::int64_t first, std::int64_t second, std::int64_t third, NodeId until) {
  RecordingBuilder builder;
  for (const std::int64_t blocks : {first, second, third}) {
    const NodeId node = builder.node("node");
    StorageRecord record{.bytes = blocks * block};
    if (node == 0 && until != none) {
      record.may_live_until = until;
      record.uncertainty = LifetimeUncertainty::function;
    }
    const StorageId made = builder.storage(record);
    const CallId call = builder.call("aten::relu", {}, {}, node);
    builder.event(EventKind::allocate, made, call);
    builder.event(EventKind::free, made, call);
  }
  return builder.recording();
}

}  // namespace

TEST_SUITE("peak_doubt") {
  TEST_CASE("no lifetime uncertainty if the file shows all lifetimes") {
    const PeakUncertainty uncertainty = profile::peak_uncertainty(three_nodes(10, 20, 30, none));
    CHECK(uncertainty.bytes == 0);
    CHECK(uncertainty.peak_bytes == 30 * block);
    CHECK_FALSE(uncertainty.is_lower_bound());
    CHECK(uncertainty.because == LifetimeUncertainty::none);
  }

  TEST_CASE("blocks that may live longer count where they may be alive") {
    const PeakUncertainty to_second = profile::peak_uncertainty(three_nodes(10, 20, 30, 1));
    CHECK(to_second.bytes == std::max(10 + 20, 30) * block - 30 * block);
    CHECK_FALSE(to_second.is_lower_bound());
    const PeakUncertainty to_third = profile::peak_uncertainty(three_nodes(10, 20, 30, 2));
    CHECK(to_third.bytes == (10 + 30) * block - 30 * block);
    CHECK(to_third.is_lower_bound());
    CHECK(to_third.because == LifetimeUncertainty::function);
  }

  TEST_CASE("without Python lines the threshold is lower; 0.5 % of the peak is ignored") {
    CHECK(profile::peak_uncertainty(three_nodes(5, 20, 1000, 2)).bytes == 0);
    Recording recording = three_nodes(6, 20, 1000, 2);
    CHECK(profile::peak_uncertainty(recording).bytes == 6 * block);
    CHECK_FALSE(profile::peak_uncertainty(recording).is_lower_bound());
    recording.storages[0].uncertainty = LifetimeUncertainty::no_lines;
    CHECK(profile::peak_uncertainty(recording).is_lower_bound());
  }

  TEST_CASE("the upper bound holds all open blocks until the step's end") {
    Recording recording = three_nodes(10, 20, 30, 1);
    for (StorageRecord& storage : recording.storages) storage.end_is_open = true;
    CHECK(profile::peak_uncertainty(recording).most_bytes == 0);  // Not reported,
    recording = three_nodes(10, 20, 30, 2);                       // unless there is uncertainty.
    CHECK(profile::peak_uncertainty(recording).most_bytes == 10 * block);
    for (StorageRecord& storage : recording.storages) storage.end_is_open = true;
    const PeakUncertainty uncertainty = profile::peak_uncertainty(recording);
    CHECK(uncertainty.bytes == 10 * block);
    CHECK(uncertainty.most_bytes == (10 + 20) * block);
  }

  TEST_CASE("in training the threshold is lower") {
    Recording recording = three_nodes(6, 20, 1000, 2);
    CHECK_FALSE(profile::peak_uncertainty(recording).is_lower_bound());
    recording.calls.push_back(recording.calls.back());
    recording.calls.back().phase = Phase::backward;
    recording.storages.push_back({.bytes = block});
    recording.events.push_back({.storage = 3, .call = 3, .kind = EventKind::allocate});
    CHECK(profile::peak_uncertainty(recording).is_lower_bound());
  }

  TEST_CASE("unregistered tensors are counted in blocks, in addition to longer lifetimes") {
    Recording recording = three_nodes(10, 20, 30, none);
    recording.unregistered_bytes = {4, 513};
    const PeakUncertainty uncertainty = profile::peak_uncertainty(recording);
    CHECK(uncertainty.bytes == (1 + 2) * block);
    CHECK(uncertainty.most_bytes == uncertainty.bytes);
    CHECK(uncertainty.peak_bytes == 30 * block);
    CHECK(uncertainty.because == LifetimeUncertainty::unregistered);
    CHECK(uncertainty.is_lower_bound());
    recording = three_nodes(10, 20, 30, 2);
    recording.unregistered_bytes = {4};
    CHECK(profile::peak_uncertainty(recording).bytes == (10 + 1) * block);
    CHECK(profile::peak_uncertainty(recording).because == LifetimeUncertainty::function);
    recording = three_nodes(10, 20, 1000, none);
    recording.unregistered_bytes = {4};
    CHECK(profile::peak_uncertainty(recording).bytes == 0);
  }

  TEST_CASE("in a small inference two possibly unregistered tensors count") {
    Recording recording = three_nodes(10, 20, 30, none);
    recording.traits = trace::exported_traits;
    const PeakUncertainty uncertainty = profile::peak_uncertainty(recording);
    CHECK(uncertainty.bytes == 2 * block);
    CHECK(uncertainty.because == LifetimeUncertainty::unread);
    CHECK(uncertainty.is_lower_bound());
    recording.unregistered_bytes = {0};  // Constructors were read.
    CHECK_FALSE(profile::peak_uncertainty(recording).is_lower_bound());
    recording = three_nodes(10, 20, 40, none);
    recording.traits = trace::exported_traits;
    CHECK_FALSE(profile::peak_uncertainty(recording).is_lower_bound());
    recording = three_nodes(10, 20, 30, none);
    recording.traits = {};
    CHECK_FALSE(profile::peak_uncertainty(recording).is_lower_bound());
  }

  TEST_CASE("2 % of the peak is not reported") {
    CHECK_FALSE(profile::peak_uncertainty(three_nodes(1, 20, 50, 2)).is_lower_bound());
    CHECK(profile::peak_uncertainty(three_nodes(1, 20, 49, 2)).is_lower_bound());
  }
}

}  // namespace symprof::test
