// Saved tensors offloaded to host memory: PyTorch's golden data (truth/offload), and formulas over
// the profile without offloading.
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

namespace symprof::offload_test {
namespace {

namespace fs = std::filesystem;
const fs::path source_dir = test::source_folder();
constexpr std::int64_t block = 512;

Profile profile_of(const std::string& name, StepOptions options) {
  const fs::path shipped = source_dir / "models" / (name + ".pt2");
  const fs::path model =
      fs::exists(shipped) ? shipped : source_dir / "models/tiny" / (name + ".pt2");
  options.lifetimes = Lifetimes::last_use;  // As in an exported program's code.
  options.device = load_device((source_dir / "devices/h200.json").string());
  return profile::evaluate(test::record_prepared(trace::load(model.string()), options),
                           options.device);
}

std::int64_t in_blocks(std::int64_t bytes) { return (bytes + block - 1) / block * block; }

/// The peak of the step's tensors if gradient sums are new tensors, as under MemTracker's dispatch
/// mode (truth/README.md).
std::int64_t peak_with_new_sums(const Recording& recording) {
  std::vector<std::int64_t> held_before(recording.calls.size() + 1);
  std::int64_t held = 0, peak = 0;
  for (const MemoryEvent& event : recording.events) {
    const StorageRecord& storage = recording.storages[static_cast<std::size_t>(event.storage)];
    const std::int64_t bytes = storage.on_device ? in_blocks(storage.bytes) : 0;
    held += event.kind == EventKind::allocate ? bytes : -bytes;
    peak = std::max(peak, held);
    held_before[static_cast<std::size_t>(event.call + 1)] = held;
  }
  for (std::size_t i = 0; i + 1 < held_before.size(); ++i) {
    if (held_before[i + 1] == 0) held_before[i + 1] = held_before[i];  // A call without events.
    const CallRecord& call = recording.calls[i];
    if (call.phase != Phase::backward ||
        recording.ops[static_cast<std::size_t>(call.op)] != "aten::add_")
      continue;
    const TensorRecord& sum = call.outputs.front();
    peak =
        std::max(peak, held_before[i] +
                           in_blocks(recording.specs[static_cast<std::size_t>(sum.spec)].bytes()));
  }
  return peak;
}

std::int64_t transfers(const Profile& profile, Phase phase, std::string_view op) {
  std::int64_t bytes = 0;
  for (const NodeProfile& node : profile.nodes)
    for (const CallProfile& call : node.calls) {
      const CallRecord& record = profile.recording.calls[static_cast<std::size_t>(call.call)];
      if (record.phase == phase && profile.recording.ops[static_cast<std::size_t>(record.op)] == op)
        bytes += call.cost.transfer_bytes;
    }
  return bytes;
}

std::int64_t host_bytes_saved(const Recording& recording) {
  std::int64_t bytes = 0;
  for (const StorageRecord& storage : recording.storages)
    if (storage.saved && !storage.on_device) bytes += storage.bytes;
  return bytes;
}

}  // namespace

TEST_SUITE("offload_saved") {
  TEST_CASE("copies and peaks under save_on_cpu match PyTorch") {
    std::ifstream file(source_dir / "truth/offload/truth.json");
    const nlohmann::json truth = nlohmann::json::parse(file);
    int compared = 0;
    for (const nlohmann::json& record : truth.at("records")) {
      const std::string model = record.at("model");
      CAPTURE(model);
      const Profile profile = profile_of(model, {.offload_saved = {"*"}});
      CHECK(profile.totals.offloaded_bytes == record.at("offloaded_bytes"));
      CHECK(peak_with_new_sums(profile.recording) == record.at("peak_bytes"));
      CHECK(profile.totals.tensor_peak.bytes <= record.at("peak_bytes"));
      CHECK(profile.totals.saved_bytes_with_inputs == 0);
      CHECK(profile.coverage.unmodelled == 0);
      ++compared;
    }
    CHECK(compared >= 6);
  }

  TEST_CASE("tensors copied to the host are copied back in backward, with the model unchanged") {
    for (const char* model : {"mlp", "convnet", "gpt2"}) {
      CAPTURE(model);
      const Profile plain = profile_of(model, {});
      const Profile offloaded = profile_of(model, {.offload_saved = {"*"}});
      const std::int64_t there = transfers(offloaded, Phase::forward, "aten::copy_");
      const std::int64_t back = transfers(offloaded, Phase::backward, "aten::_to_copy");
      // Seeds are on the host already: they are copied within the host and never to the device.
      CHECK(there == offloaded.totals.offloaded_bytes - host_bytes_saved(plain.recording));
      CHECK(back == there);
      CHECK(offloaded.totals.transfer_bytes == plain.totals.transfer_bytes + there + back);
      CHECK(offloaded.totals.fwd_flops_all == plain.totals.fwd_flops_all);
      CHECK(offloaded.totals.bwd_flops == plain.totals.bwd_flops);
      CHECK(offloaded.totals.grad_bytes == plain.totals.grad_bytes);
      CHECK(plain.totals.offloaded_bytes == 0);
    }
  }

  TEST_CASE("selected modules keep no saved tensors on the device, the others are unchanged") {
    const Profile plain = profile_of("gpt2", {});
    const Profile all = profile_of("gpt2", {.offload_saved = {"*"}});
    const Profile layers = profile_of("gpt2", {.offload_saved = {"model.transformer.h.*"}});
    CHECK(layers.totals.offloaded_bytes < all.totals.offloaded_bytes);
    CHECK(layers.totals.offloaded_bytes > all.totals.offloaded_bytes / 2);
    CHECK(layers.totals.saved_bytes > 0);
    CHECK(layers.totals.saved_bytes < plain.totals.saved_bytes / 4);
    CHECK(layers.totals.peak_allocated_bytes < plain.totals.peak_allocated_bytes);
    for (std::size_t i = 0; i < plain.nodes.size(); ++i) {
      const NodeRecord& node = plain.recording.nodes[i];
      if (node.module.starts_with("model.transformer.h.") || node.kind != NodeKind::operation)
        continue;
      CAPTURE(node.name);
      CHECK(layers.nodes[i].calls.size() == plain.nodes[i].calls.size());
    }
  }

  TEST_CASE("a checkpoint's inputs are offloaded, its recomputed activations are not") {
    const StepOptions again{.checkpoint = {"model.transformer.h.*"}};
    StepOptions both = again;
    both.offload_saved = {"*"};
    const Profile plain = profile_of("gpt2", again);
    const Profile offloaded = profile_of("gpt2", both);
    CHECK(offloaded.totals.saved_bytes < plain.totals.saved_bytes);
    CHECK(offloaded.totals.offloaded_bytes <
          profile_of("gpt2", {.offload_saved = {"*"}}).totals.offloaded_bytes / 2);
    CHECK(offloaded.totals.bwd_flops == plain.totals.bwd_flops);
  }

  TEST_CASE("a pattern that no module matches is an error") {
    CHECK_THROWS_WITH(profile_of("gpt2", {.offload_saved = {"layers.*"}}),
                      doctest::Contains("offload_saved=layers.*"));
  }
}

}  // namespace symprof::offload_test
