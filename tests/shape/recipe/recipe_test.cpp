// Whole training recipes against PyTorch's run on fake CUDA tensors (truth/recipes/recipes.json,
// made by make_recipes.py): the update's calls, in order, and the live memory at the begin of each.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/rounding.h"
#include "profile/memory/step_memory.h"
#include "profile/profile.h"
#include "session/setting_names.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::recipe_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
const fs::path source_dir = test::source_folder();
constexpr std::int64_t block = 512;

struct CallAndHeld {
  std::string op;
  std::int64_t held = 0;
  bool operator==(const CallAndHeld&) const = default;
};

doctest::String toString(const CallAndHeld& call) {
  return (call.op + " at " + std::to_string(call.held)).c_str();
}

json read_truth() {
  std::ifstream file(source_dir / "truth/recipes/recipes.json");
  return json::parse(file);
}

fs::path model_of(const std::string& name) {
  const fs::path own = source_dir / "truth/recipes" / (name + ".pt2");
  return fs::exists(own) ? own : source_dir / "models/tiny" / (name + ".pt2");
}

template <class Value, std::size_t size>
Value named(const settings::Named<Value> (&list)[size], std::string_view name) {
  const auto found = std::ranges::find(list, name, &settings::Named<Value>::name);
  REQUIRE(found != std::end(list));
  return found->value;
}

DType dtype_named(const json& name) { return name == "float16" ? DType::float16 : DType::bfloat16; }

StepOptions options_of(const json& record) {
  StepOptions options{.loss = named(settings::losses, record.at("loss").get<std::string>()),
                      .clip_grad_norm = record.at("clip_grad_norm"),
                      .grad_scaler = record.at("grad_scaler"),
                      .master_weights = record.at("master_weights"),
                      .lifetimes = Lifetimes::last_use};
  const std::string optimizer = record.at("optimizer");
  const std::size_t colon = optimizer.find(':');
  options.optimizer =
      std::ranges::find(optimizers, optimizer.substr(0, colon), &OptimizerInfo::name)->optimizer;
  options.optimizer_variant = named(settings::optimizer_variants, optimizer.substr(colon + 1));
  if (!record.at("autocast").is_null()) options.autocast = dtype_named(record.at("autocast"));
  options.device = load_device((source_dir / "devices/h200.json").string());
  return options;
}

Recording record_step(const json& record) {
  Graph graph = trace::load(model_of(record.at("model")).string());
  trace::set_training_mode(graph, trace::TrainingMode::train);
  if (record.at("dtype") != "float32")
    trace::cast_floating_point(graph, dtype_named(record.at("dtype")));
  trace::bind_inputs(graph, {}, {});
  return shape::propagate(graph, options_of(record));
}

std::int64_t bytes_held(const Recording& recording, StorageId storage) {
  const StorageRecord& record = recording.storages[static_cast<std::size_t>(storage)];
  return record.on_device ? symprof::round_up(record.bytes, block) : 0;
}

// Bytes allocated before the first event: storages without events.
std::int64_t held_at_first(const Recording& recording) {
  std::vector<bool> has_event(recording.storages.size());
  for (const MemoryEvent& event : recording.events)
    has_event[static_cast<std::size_t>(event.storage)] = true;
  std::int64_t held = 0;
  for (std::size_t i = 0; i < recording.storages.size(); ++i)
    if (!has_event[i]) held += bytes_held(recording, static_cast<StorageId>(i));
  return held;
}

// Copying a handle is no call there; and under a dispatch mode at::reshape uses view
// (aten/src/ATen/native/TensorShape.cpp, isTensorSubclassLike).
std::string name_in_truth(const std::string& op) {
  return op == "aten::_reshape_alias" ? "view" : op.substr(op.find("::") + 2);
}

std::vector<CallAndHeld> calls_of(const Recording& recording, Phase phase) {
  std::vector<CallAndHeld> calls;
  std::int64_t held = held_at_first(recording);
  std::size_t next = 0;
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    for (; next < recording.events.size(); ++next) {
      const MemoryEvent& event = recording.events[next];
      if (event.call >= static_cast<CallId>(i)) break;
      const std::int64_t bytes = bytes_held(recording, event.storage);
      held += event.kind == EventKind::allocate ? bytes : -bytes;
    }
    const CallRecord& call = recording.calls[i];
    const std::string& op = recording.ops[static_cast<std::size_t>(call.op)];
    if (call.phase == phase && op != "aten::alias") calls.push_back({name_in_truth(op), held});
  }
  return calls;
}

// The update's calls at the end of a loop of micro-batches, and the live memory before each.
std::vector<CallAndHeld> calls_of(const Recording& recording, const StepMemory& memory) {
  std::vector<CallAndHeld> calls = calls_of(recording, Phase::optimizer);
  const auto first = static_cast<CallId>(recording.calls.size() - calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (const TimelinePoint& point : memory.timeline)
      if (point.call < first + static_cast<CallId>(i)) calls[i].held = point.held.total();
  return calls;
}

std::vector<CallAndHeld> calls_of(const json& sequence) {
  std::vector<CallAndHeld> calls;
  for (const json& call : sequence) calls.push_back({call.at(0), call.at(1)});
  return calls;
}

void check_same(const std::vector<CallAndHeld>& ours, const std::vector<CallAndHeld>& theirs) {
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(i);
    REQUIRE(ours[i] == theirs[i]);
  }
}

std::int64_t state_bytes(const Recording& recording) {
  std::int64_t bytes = 0;
  for (const StorageRecord& storage : recording.storages)
    if (storage.kind == StorageKind::optimizer_state) bytes += storage.bytes;
  return bytes;
}

void for_each_record(const auto& run) {
  static const json truth = read_truth();
  for (const json& record : truth.at("records")) {
    json recipe = record;
    for (const char* result : {"update_calls", "forward_calls", "loss_calls", "backward_calls"})
      recipe.erase(result);
    CAPTURE(recipe.dump());
    run(record);
  }
}

// Under a dispatch mode, autograd adds the two gradients of GPT-2's tied embedding [512, 64] into a
// new tensor; eager CUDA adds in place (docs/evaluation/accuracy.md). This is the peak only under
// autocast.
std::int64_t sum_of_tied_gradients(const json& record) {
  const bool peaks_in_sum = record.at("model") == "gpt2" && !record.at("autocast").is_null();
  return peaks_in_sum ? 512 * 64 * 4 : 0;
}

bool has_micro_batches(const json& record) { return record.at("micro_batches") != 1; }

}  // namespace

TEST_SUITE("recipe") {
  TEST_CASE("the update makes PyTorch's calls with PyTorch's live memory at each") {
    int compared = 0;
    for_each_record([&](const json& record) {
      if (has_micro_batches(record)) return;
      const Recording recording = record_step(record);
      CHECK(state_bytes(recording) == record.at("state_bytes"));
      check_same(calls_of(recording, Phase::loss), calls_of(record.at("loss_calls")));
      check_same(calls_of(recording, Phase::optimizer), calls_of(record.at("update_calls")));
      const Profile profile = profile::evaluate(recording, options_of(record).device);
      CHECK(profile.totals.tensor_peak.bytes == record.at("peak_bytes"));
      CHECK(profile.coverage.unmodelled_ops == std::vector<std::string>{});
      ++compared;
    });
    CHECK(compared == 214);
  }

  TEST_CASE("autocast's copies of weights live until the region around the loss ends") {
    int compared = 0;
    for_each_record([&](const json& record) {
      if (!record.contains("forward_calls")) return;
      const Recording recording = record_step(record);
      check_same(calls_of(recording, Phase::forward), calls_of(record.at("forward_calls")));
      if (record.contains("backward_calls"))
        check_same(calls_of(recording, Phase::backward), calls_of(record.at("backward_calls")));
      ++compared;
    });
    CHECK(compared == 9);
  }

  TEST_CASE(
      "a missing optimizer variant is refused, and so are masters without half-precision "
      "parameters") {
    json record = read_truth().at("records").at(0);
    record["optimizer"] = "lion:fused";
    CHECK_THROWS_AS(record_step(record), Error);
    record["optimizer"] = "adamw:fused";
    record["master_weights"] = true;
    CHECK_THROWS_AS(record_step(record), Error);
    record["dtype"] = "float16";
    CHECK_NOTHROW(record_step(record));
    record["master_weights"] = false;
    record["grad_scaler"] = true;
    CHECK_NOTHROW(
        record_step(record));  // The fused step unscales fp16 gradients, which unscale_ refuses.
    record["clip_grad_norm"] = true;
    CHECK_THROWS_AS(record_step(record), Error);
  }

  TEST_CASE("gradients of micro-batches accumulate in the dtype of the parameters") {
    int compared = 0;
    for_each_record([&](const json& record) {
      if (!has_micro_batches(record)) return;
      const Recording recording = record_step(record);
      DeviceSpec device = options_of(record).device;
      device.cublas_workspace_bytes =
          0;  // Not a tensor: missing in PyTorch's record, as are cuDNN's plans.
      device.cudnn_copies_operands = false;
      const StepMemory memory = profile::simulate_step_memory(
          recording, device, {.loop = {.micro_batches = record.at("micro_batches")}});
      CHECK(memory.peak_allocated_bytes + sum_of_tied_gradients(record) == record.at("peak_bytes"));
      check_same(calls_of(recording, memory), calls_of(record.at("update_calls")));
      ++compared;
    });
    CHECK(compared == 9);
  }
}

}  // namespace symprof::recipe_test
