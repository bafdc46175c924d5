// One generation step with a key-value cache, against transformers on fake CUDA tensors
// (truth/kv_cache).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/prepared_step.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"

namespace symprof::key_value_cache_test {
namespace {

namespace fs = std::filesystem;
const fs::path truth_folder = fs::path(test::source_folder()) / "truth/kv_cache";

StepOptions cached(std::int64_t tokens) {
  return {.mode = Mode::inference,
          .kv_cache = tokens,
          .device = load_device(test::source_folder() + "/devices/h200.json")};
}

using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

Profile profile_of(const Graph& graph, const StepOptions& options, const Sizes& sizes = {}) {
  return profile::evaluate(test::record_prepared(graph, options, sizes), options.device);
}

Profile profile_of(const std::string& model, std::int64_t sequences, std::int64_t step_tokens,
                   std::int64_t tokens) {
  return profile_of(trace::load((truth_folder / (model + ".pt2")).string()), cached(tokens),
                    {{"input_ids.0", sequences}, {"input_ids.1", step_tokens}});
}

/// MemTracker's peak: blocks of 512 bytes, including attention's seed and offset, which are in host
/// memory but count as device blocks there.
std::int64_t tracked_peak(const Recording& recording) {
  constexpr std::int64_t block = 512;
  std::int64_t held = 0, peak = 0;
  const auto change = [&](StorageId id, std::int64_t sign) {
    const std::int64_t bytes = recording.storages[static_cast<std::size_t>(id)].bytes;
    held += sign * ((bytes + block - 1) / block * block);
    peak = std::max(peak, held);
  };
  std::vector<bool> has_event(recording.storages.size());
  for (const MemoryEvent& event : recording.events)
    has_event[static_cast<std::size_t>(event.storage)] = true;
  for (std::size_t i = 0; i < has_event.size(); ++i)
    if (!has_event[i]) change(static_cast<StorageId>(i), 1);
  for (const MemoryEvent& event : recording.events)
    change(event.storage, event.kind == EventKind::allocate ? 1 : -1);
  return peak;
}

}  // namespace

TEST_SUITE("key_value_cache") {
  TEST_CASE("a generation step costs the same as in transformers") {
    std::ifstream file(truth_folder / "truth.json");
    const nlohmann::json truth = nlohmann::json::parse(file);
    int compared = 0;
    for (const nlohmann::json& record : truth.at("records")) {
      const std::string model = record.at("model");
      const std::int64_t sequences = record.at("sequences"), tokens = record.at("tokens");
      const std::int64_t step_tokens = record.at("step_tokens");
      CAPTURE(model);
      CAPTURE(sequences);
      CAPTURE(step_tokens);
      CAPTURE(tokens);
      const Profile profile = profile_of(model, sequences, step_tokens, tokens);
      const Totals& totals = profile.totals;
      CHECK(*totals.kv_cache_bytes == record.at("cache_bytes"));
      CHECK(*totals.kv_cache_bytes_after == record.at("cache_bytes_after"));
      CHECK(*totals.kv_cache_bytes_per_token * sequences * (tokens + step_tokens) ==
            record.at("cache_bytes_after"));
      CHECK(totals.fwd_flops == record.at("fwd_flops"));
      CHECK(tracked_peak(profile.recording) == record.at("peak_bytes"));
      CHECK(profile.coverage.unmodelled == 0);
      ++compared;
    }
    CHECK(compared >= 15);
  }
}

}  // namespace symprof::key_value_cache_test
