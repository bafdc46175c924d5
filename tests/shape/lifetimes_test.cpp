// Lifetimes of values in eager Python, against PyTorch's golden data for the eager modules
// (truth/lifetimes, made by lifetimes.py).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/rounding.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/prepared_step.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"
#include "trace/torchscript/load.h"

namespace symprof::lifetimes_test {
namespace {

const std::filesystem::path source_dir = test::source_folder();
constexpr std::int64_t block_bytes = 512;

Profile forward_of(const std::filesystem::path& model, Lifetimes lifetimes) {
  StepOptions options{.mode = Mode::inference, .lifetimes = lifetimes};
  options.device = load_device((source_dir / "devices/h200.json").string());
  return profile::evaluate(test::record_prepared(trace::load(model.string()), options),
                           options.device);
}

Profile forward_of_script(const std::filesystem::path& model, const std::string& input) {
  trace::TorchScriptOptions load{.mode = trace::TrainingMode::eval, .gradients = false};
  load.inputs.push_back(trace::parse_input_override(input));
  const Graph graph = trace::load_torchscript(model.string(), load);
  StepOptions options{.mode = Mode::inference, .lifetimes = Lifetimes::frames};
  options.device = load_device((source_dir / "devices/h200.json").string());
  return profile::evaluate(shape::propagate(graph, options), options.device);
}

/// The export's input: `x=float32[16,32]`.
std::string input_of(const std::filesystem::path& exported) {
  const Graph graph = trace::load(exported.string());
  const Value& input = graph.values[static_cast<std::size_t>(graph.inputs.at(0))];
  return fmt::format("{}={}", input.name, to_string(input.spec.value()));
}

/// Live bytes after each allocation of the forward pass, without earlier storages.
std::vector<std::int64_t> live_bytes(const Recording& recording) {
  std::vector<std::int64_t> sums;
  std::int64_t live = 0;
  for (const MemoryEvent& event : recording.events) {
    const StorageRecord& storage = recording.storages[static_cast<std::size_t>(event.storage)];
    if (storage.allocated_by == none || !storage.on_device) continue;
    const std::int64_t bytes = symprof::round_up(storage.bytes, block_bytes);
    const bool allocates = event.kind == EventKind::allocate;
    live += allocates ? bytes : -bytes;
    if (allocates) sums.push_back(live);
  }
  return sums;
}

nlohmann::json read_json(const std::string& name) {
  std::ifstream file(source_dir / "truth/lifetimes" / name);
  return nlohmann::json::parse(file);
}

std::int64_t sum(const std::vector<std::int64_t>& series) {
  return std::accumulate(series.begin(), series.end(), std::int64_t{0});
}

}  // namespace

TEST_SUITE("lifetimes") {
  TEST_CASE("a forward function's live bytes match PyTorch after every allocation") {
    const nlohmann::json records = read_json("eager.json");
    int compared = 0, in_onnx = 0;
    for (const auto& [name, record] : records.items()) {
      if (!record.contains("live_bytes")) continue;
      CAPTURE(name);
      const auto wanted = record.at("live_bytes").get<std::vector<std::int64_t>>();
      const auto model = source_dir / "truth/lifetimes" / name;
      const Profile profile = forward_of(model.string() + ".pt2", Lifetimes::frames);
      CHECK(live_bytes(profile.recording) == wanted);
      CHECK(profile.totals.tensor_peak.bytes == record.at("peak_bytes"));
      ++compared;
      if (!std::filesystem::exists(model.string() + ".onnx")) continue;
      const Profile onnx = forward_of(model.string() + ".onnx", Lifetimes::frames);
      CHECK(live_bytes(onnx.recording) == wanted);
      ++in_onnx;
    }
    CHECK(compared >= 12);
    CHECK(in_onnx >= 3);
  }

  TEST_CASE("TorchScript's live bytes match the eager module, except for known causes") {
    const nlohmann::json records = read_json("eager.json"), causes = read_json("causes.json");
    int equal_scripts = 0, equal_traces = 0;
    for (const auto& [name, record] : records.items())
      for (const std::string kind : {"_scripted", "_scripted_code", "_traced"}) {
        const auto folder = source_dir / "truth/lifetimes";
        if (!std::filesystem::exists(folder / (name + kind + ".pt"))) continue;
        CAPTURE(name + kind);
        const Profile profile =
            forward_of_script(folder / (name + kind + ".pt"), input_of(folder / (name + ".pt2")));
        const auto live = live_bytes(profile.recording);
        const auto wanted = record.at("live_bytes").get<std::vector<std::int64_t>>();
        const std::int64_t peak_difference =
            profile.totals.tensor_peak.bytes - record.at("peak_bytes").get<std::int64_t>();
        if (causes.contains(name + kind)) {
          CHECK(peak_difference == causes[name + kind].at("bytes"));
          CHECK(sum(live) - sum(wanted) == causes[name + kind].at("sum_bytes"));
        } else {
          CHECK(peak_difference == 0);
          CHECK(live == wanted);
          ++(kind == "_traced" ? equal_traces : equal_scripts);
        }
      }
    CHECK(equal_scripts >= 17);
    CHECK(equal_traces >= 1);
  }

  TEST_CASE("with uncertain lifetimes, the peak is within 5 % of PyTorch's or a lower bound") {
    const nlohmann::json records = read_json("helpers/eager.json"),
                         known = read_json("helpers/differences.json");
    const auto folder = source_dir / "truth/lifetimes/helpers";
    for (const auto& [name, record] : records.items())
      for (const std::string& file : {name + ".pt2", name + ".onnx", name + "_traced.pt"}) {
        if (!std::filesystem::exists(folder / file)) continue;
        CAPTURE(file);
        const Profile profile =
            file.ends_with(".pt")
                ? forward_of_script(folder / file, input_of(folder / (name + ".pt2")))
                : forward_of(folder / file, Lifetimes::frames);
        const auto wanted = record.at("peak_bytes").get<std::int64_t>();
        const std::int64_t found = profile.totals.tensor_peak.bytes;
        CHECK(profile.memory.uncertainty.peak_bytes == found);
        const bool is_marked = profile.memory.uncertainty.is_lower_bound();
        CHECK((is_marked || std::abs(found - wanted) * 20 <= wanted));
        CHECK(found - wanted == known.at(file).at("bytes"));
        CHECK(is_marked == known.at(file).at("at_least"));
      }
  }

  TEST_CASE("zoo exports with a peak that is too low are marked as lower bounds") {
    const nlohmann::json records = read_json("eager.json");
    int marked = 0, low = 0, low_and_marked = 0;
    for (const auto& [name, record] : records.items()) {
      if (record.contains("live_bytes")) continue;
      CAPTURE(name);
      const auto model = source_dir / "tests/zoo/models" / (name + ".pt2");
      const Profile profile = forward_of(model, Lifetimes::frames);
      const auto wanted = record.at("peak_bytes").get<std::int64_t>();
      const std::int64_t missing = wanted - profile.totals.tensor_peak.bytes;
      const bool is_marked = profile.memory.uncertainty.is_lower_bound(),
                 is_low = missing * 200 > wanted;
      CHECK((is_marked || !is_low));
      CHECK((!is_low || missing <= profile.memory.uncertainty.bytes));
      marked += is_marked;
      low += is_low;
      low_and_marked += is_marked && is_low;
    }
    CHECK(low_and_marked == low);
    CHECK(low == 6);
    CHECK(marked == 16);
  }

  TEST_CASE("lifetimes until the last use give smaller live bytes") {
    const nlohmann::json record = read_json("eager.json").at("named_once");
    const auto model = source_dir / "truth/lifetimes/named_once.pt2";
    const Profile profile = forward_of(model, Lifetimes::last_use);
    CHECK(sum(live_bytes(profile.recording)) < record.at("sum_bytes").get<std::int64_t>());
  }

  TEST_CASE("the zoo's forward peaks match the eager modules, except for known causes") {
    const nlohmann::json records = read_json("eager.json"), causes = read_json("causes.json");
    int equal = 0, equal_series = 0;
    for (const auto& [name, record] : records.items()) {
      if (record.contains("live_bytes")) continue;
      CAPTURE(name);
      const auto model = source_dir / "tests/zoo/models" / (name + ".pt2");
      const Profile profile = forward_of(model, Lifetimes::frames);
      const std::int64_t known = causes.contains(name) ? causes[name].at("bytes").get<int>() : 0;
      CHECK(profile.totals.tensor_peak.bytes - known == record.at("peak_bytes"));
      equal += known == 0;
      equal_series += sum(live_bytes(profile.recording)) == record.at("sum_bytes");
    }
    CHECK(equal >= 40);
    CHECK(equal_series >= 10);
  }
}

}  // namespace symprof::lifetimes_test
