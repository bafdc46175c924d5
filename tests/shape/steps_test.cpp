// Whole training steps against PyTorch's golden data: truth/steps, made by make_steps.py and
// real_allocator.py there.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/prepared_step.h"
#include "trace/load.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::steps_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
const fs::path folder = fs::path(test::source_folder()) / "truth/steps";

json read(const fs::path& path) {
  std::ifstream file(path);
  return json::parse(file);
}

Graph load(const fs::path& model) { return trace::load(model.string()); }

const std::map<std::string, std::pair<Optimizer, OptimizerVariant>> optimizers = {
    {"sgd_momentum:foreach", {Optimizer::sgd_momentum, OptimizerVariant::foreach}},
    {"adamw:foreach", {Optimizer::adamw, OptimizerVariant::foreach}},
    {"adamw:fused", {Optimizer::adamw, OptimizerVariant::fused}},
};

Totals totals_of(const Graph& graph, const json& truth, const json& record, Lifetimes lifetimes) {
  const auto& [optimizer, variant] = optimizers.at(record.at("optimizer"));
  StepOptions options;
  options.optimizer = optimizer;
  options.optimizer_variant = variant;
  options.lifetimes = lifetimes;
  options.device = load_device(test::source_folder() + "/devices/h200.json");
  if (record.at("dtype") == "autocast") options.autocast = DType::bfloat16;
  if (record.at("checkpoint")) options.checkpoint = truth.at("checkpoint");
  if (truth.value("attention", "") == "efficient") options.attention = AttentionBackend::efficient;
  return profile::evaluate(test::record_prepared(graph, options), options.device).totals;
}

/// Known differences between symprof and PyTorch: the entries of causes.json whose fields match the
/// record.
class Causes {
 public:
  explicit Causes(const fs::path& path) : causes_(read(path)) {}

  std::int64_t bytes(const std::string& model, const json& record) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < causes_.size(); ++i) {
      if (!applies(causes_[i], model, record)) continue;
      used_.insert(i);
      bytes += causes_[i].at("bytes").get<std::int64_t>();
    }
    return bytes;
  }
  bool all_used() const { return used_.size() == causes_.size(); }

 private:
  static bool applies(const json& cause, const std::string& model, const json& record) {
    const auto& models = cause.at("models");
    if (std::ranges::find(models, json(model)) == models.end()) return false;
    for (const auto& [field, wanted] : cause.at("of").items()) {
      const json& value = record.at(field);
      const bool is_wanted =
          wanted.is_array() ? std::ranges::find(wanted, value) != wanted.end() : value == wanted;
      if (!is_wanted) return false;
    }
    return true;
  }

  json causes_;
  std::set<std::size_t> used_;
};

}  // namespace

TEST_SUITE("steps") {
  TEST_CASE("a training step's peak matches PyTorch") {
    Causes causes(folder / "causes.json");
    int models = 0;
    const json truths = read(folder / "steps.json");
    for (const auto& [model, truth] : truths.items()) {
      const Graph graph = load(folder / (model + ".pt2"));
      for (const json& record : truth.at("records")) {
        CAPTURE(model);
        CAPTURE(record.dump());
        const auto lifetimes =
            record.at("program") == "exported" ? Lifetimes::last_use : Lifetimes::frames;
        const std::int64_t peak = totals_of(graph, truth, record, lifetimes).tensor_peak.bytes;
        CHECK(peak - record.at("eager_bytes").get<std::int64_t>() == causes.bytes(model, record));
      }
      ++models;
    }
    CHECK(models >= 12);
    CHECK(causes.all_used());
  }

  TEST_CASE("a loop's reserved memory matches PyTorch's CUDA build") {
    Causes causes(folder / "allocator_causes.json");
    std::size_t loops = 0;
    const json truths = read(folder / "allocator.json");
    for (const auto& [model, truth] : truths.items()) {
      const Graph graph = load(folder / "full" / (model + ".pt2"));
      for (const json& record : truth.at("records")) {
        CAPTURE(model);
        CAPTURE(record.dump());
        const Totals totals = totals_of(graph, truth, record, Lifetimes::frames);
        CHECK(totals.peak_allocated_bytes ==
              record.at("peak_allocated_bytes").get<std::int64_t>() + causes.bytes(model, record));
        CHECK(totals.peak_reserved_bytes == record.at("peak_reserved_bytes").get<std::int64_t>());
        ++loops;
      }
    }
    CHECK(loops >= 48);
    CHECK(causes.all_used());
  }
}

}  // namespace symprof::steps_test
