// Measured histories beside predicted ones: which settings of the allocator explain the segments.
#include "session/memory_snapshot.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "snapshot/read.h"
#include "tests/support/source_folder.h"

namespace symprof {
namespace {

snapshot::Snapshot recorded(const std::string& name) {
  return snapshot::read_snapshot(test::source_folder() + "/truth/snapshots/settings/" + name +
                                 ".pickle.gz");
}

TEST_SUITE("session") {
  // Snapshots of one program take the place of predictions: its requests are the same with both.
  TEST_CASE("the settings that explain a measured reserved peak come first") {
    const auto predict = [](const std::string& alloc_conf) {
      return recorded(alloc_conf.starts_with("expandable_segments:True") ? "expandable" : "all");
    };
    const MeasuredMemory both =
        beside_prediction(analyze_memory(recorded("expandable")), predict, "");
    REQUIRE(both.measured.snapshot.settings.conf == "expandable_segments:True");
    CHECK(both.tried.size() == 1 + 2 * 3);  // Its own, and three versions of each.
    CHECK(both.tried.front().alloc_conf == "expandable_segments:True");
    CHECK(both.tried.front().peak_reserved_bytes == both.prediction.measured.reserved.bytes);
    CHECK(both.tried.back().peak_reserved_bytes == both.prediction.predicted.reserved.bytes);
  }

  TEST_CASE("nothing is tried where the prediction is right, and unknown settings are left out") {
    const auto right = [](const std::string&) { return recorded("expandable"); };
    CHECK(beside_prediction(analyze_memory(recorded("expandable")), right, "").tried.empty());
    const auto knows_none = [](const std::string& alloc_conf) {
      if (!alloc_conf.empty()) throw Error(alloc_conf, "is unknown.", "");
      return recorded("all");
    };
    CHECK(beside_prediction(analyze_memory(recorded("expandable")), knows_none, "").tried.empty());
  }
}

}  // namespace
}  // namespace symprof
