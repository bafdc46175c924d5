// The shipped models against PyTorch's golden data (truth/*.json, made by make_truth.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::truth_test {
namespace {

namespace fs = std::filesystem;
const fs::path source_dir = test::source_folder();

// True if the record is of the file cast to another dtype. A model exported in bf16 has no fp32
// record.
bool is_cast(const nlohmann::json& truth, const nlohmann::json& record) {
  const auto is_fp32 = [](const nlohmann::json& other) { return other.at("dtype") == "fp32"; };
  return record.at("dtype") == "bf16" && std::ranges::any_of(truth.at("records"), is_fp32);
}

// An exported program's code releases a value at its last use; an eager module's frames do not.
Profile profile_of(const fs::path& model, const nlohmann::json& truth, const nlohmann::json& record,
                   StepOptions options = {.lifetimes = Lifetimes::last_use}) {
  Graph graph = trace::load(model.string());
  const bool eval = record.at("mode") == "eval";
  trace::set_training_mode(graph, eval ? trace::TrainingMode::eval : trace::TrainingMode::train);
  if (is_cast(truth, record)) trace::cast_floating_point(graph, DType::bfloat16);
  trace::bind_inputs(graph, {}, {});
  if (options.mode != Mode::inference) options.mode = eval ? Mode::eval : Mode::train;
  options.device = load_device((source_dir / "devices/h200.json").string());
  if (record.at("attention") == "math") options.attention = AttentionBackend::math;
  return profile::evaluate(shape::propagate(graph, options), options.device);
}

// models/<name>.pt2, or the one in models/tiny.
fs::path model_of(const fs::path& truth) {
  const fs::path name = truth.stem().string() + ".pt2";
  const fs::path model = source_dir / "models" / name;
  return fs::exists(model) ? model : source_dir / "models/tiny" / name;
}

constexpr std::int64_t block = 512;

// MemTracker counts attention's seed and offset as device blocks; they are in host memory.
std::int64_t host_blocks(const Recording& recording) {
  return block * std::ranges::count_if(recording.storages, [](const StorageRecord& storage) {
           return storage.saved && !storage.on_device;
         });
}

// MemTracker also adds gradients into a new tensor; eager CUDA adds in place. Only ResNet-50's peak
// is in such a sum (docs/evaluation/accuracy.md).
bool peaks_in_a_sum(const fs::path& model) { return model.stem() == "resnet50"; }

void check_peak(const Profile& profile, const fs::path& model, std::int64_t tracked) {
  const std::int64_t peak = profile.totals.tensor_peak.bytes + host_blocks(profile.recording);
  if (peaks_in_a_sum(model)) {
    CHECK(peak < tracked);
    CHECK(static_cast<double>(tracked - peak) <= 0.005 * static_cast<double>(tracked));
  } else {
    CHECK(peak == tracked);
  }
}

void check(const Profile& profile, const fs::path& model, const nlohmann::json& truth) {
  const Totals& totals = profile.totals;
  CHECK(totals.fwd_flops == truth.at("fwd_flops"));
  CHECK(totals.bwd_flops == truth.at("bwd_flops"));
  CHECK(totals.saved_bytes == truth.at("saved_bytes"));
  CHECK(totals.param_bytes == truth.at("param_bytes"));
  CHECK(totals.param_count == truth.at("param_count"));
  CHECK(totals.buffer_bytes == truth.at("buffer_bytes"));
  CHECK(totals.input_bytes == truth.at("input_bytes"));
  CHECK(profile.coverage.unmodelled_ops == std::vector<std::string>{});
  check_peak(profile, model, truth.at("peak_bytes").at("forward_backward"));
}

void check_optimizer(const fs::path& model, const nlohmann::json& truth,
                     const nlohmann::json& record, Optimizer optimizer, OptimizerVariant variant,
                     const std::string& name) {
  const Profile profile = profile_of(
      model, truth, record,
      {.optimizer = optimizer, .optimizer_variant = variant, .lifetimes = Lifetimes::last_use});
  const std::int64_t tracked = record.at("peak_bytes").at(name);
  if (profile.totals.tensor_peak.phase != Phase::optimizer)
    return check_peak(profile, model, tracked);
  // make_truth.py releases the output before the update; here it lives as in a training loop.
  const std::int64_t output = record.at("output_bytes");
  CHECK(profile.totals.tensor_peak.bytes == tracked + (output + block - 1) / block * block);
}

// Calls `run` with the model, the whole truth and each record of an exported program.
int for_each_record(const auto& run, std::string_view kind = "exported") {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(source_dir / "truth")) {
    if (entry.path().extension() != ".json") continue;
    const fs::path model = model_of(entry.path());
    std::ifstream file(entry.path());
    const nlohmann::json truth = nlohmann::json::parse(file);
    for (const nlohmann::json& record : truth.at("records")) {
      if (record.at("kind") != kind) continue;
      CAPTURE(model.stem().string());
      CAPTURE(record.at("mode").get<std::string>());
      CAPTURE(record.at("dtype").get<std::string>());
      CAPTURE(record.at("attention").get<std::string>());
      run(model, truth, record);
      ++count;
    }
  }
  return count;
}

}  // namespace

TEST_SUITE("truth") {
  TEST_CASE("the exported programs' costs match PyTorch") {
    const int compared =
        for_each_record([](const auto& model, const auto& truth, const auto& record) {
          check(profile_of(model, truth, record), model, record);
        });
    CHECK(compared >= 40);
  }

  TEST_CASE("the peak of a step with an optimizer matches PyTorch") {
    using enum OptimizerVariant;
    int compared = 0;
    for_each_record([&](const auto& model, const auto& truth, const auto& record) {
      if (!record.at("peak_bytes").contains("sgd")) return;
      check_optimizer(model, truth, record, Optimizer::sgd, foreach, "sgd");
      check_optimizer(model, truth, record, Optimizer::adamw, foreach, "adamw_foreach");
      check_optimizer(model, truth, record, Optimizer::adamw, fused, "adamw_fused");
      check_optimizer(model, truth, record, Optimizer::adamw, single, "adamw_single");
      ++compared;
    });
    CHECK(compared >= 10);
  }

  TEST_CASE("an eager module's inference peak includes the arguments held by its frames") {
    const int equal = for_each_record(
        [&](const auto& model, const auto& truth, const auto& record) {
          if (record.at("mode") != "eval") return;
          const Profile profile = profile_of(model, truth, record, {.mode = Mode::inference});
          const std::int64_t peak =
              profile.totals.tensor_peak.bytes + host_blocks(profile.recording);
          CHECK(peak == record.at("peak_bytes").at("inference"));
        },
        "module");
    CHECK(equal >= 20);
  }
}

}  // namespace symprof::truth_test
