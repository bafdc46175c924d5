// Architectures of known packages against PyTorch's golden data: tests/zoo/models, made by
// truth/zoo/run.py and report.py.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profile/profile.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/prepared_step.h"
#include "trace/load.h"

namespace symprof::zoo_test {
namespace {

namespace fs = std::filesystem;
const fs::path source_dir = test::source_folder();

Profile profile_of(const fs::path& model) {
  StepOptions options;
  options.device = load_device((source_dir / "devices/h200.json").string());
  return profile::evaluate(test::record_prepared(trace::load(model.string()), options),
                           options.device);
}

nlohmann::json read(const fs::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

// Only cuDNN knows the reserve of its recurrent layers; docs/evaluation/models.md.
bool has_cudnn_layers(const Profile& profile) {
  return std::ranges::count(profile.recording.ops, "aten::_cudnn_rnn") != 0;
}

void check(const Profile& profile, const nlohmann::json& truth) {
  const Totals& totals = profile.totals;
  CHECK(totals.fwd_flops == truth.at("fwd_flops"));
  CHECK(totals.param_count == truth.at("param_count"));
  CHECK(totals.param_bytes == truth.at("param_bytes"));
  CHECK(totals.buffer_bytes == truth.at("buffer_bytes"));
  CHECK(totals.input_bytes == truth.at("input_bytes"));
  CHECK(profile.coverage.unmodelled_ops == std::vector<std::string>{});
  if (has_cudnn_layers(profile)) return;
  CHECK(totals.bwd_flops == truth.at("bwd_flops"));
  CHECK(totals.saved_bytes == truth.at("saved_bytes"));
}

}  // namespace

TEST_SUITE("zoo") {
  TEST_CASE("costs of known packages' architectures match PyTorch") {
    int compared = 0;
    for (const auto& entry : fs::directory_iterator(source_dir / "tests/zoo/models")) {
      if (entry.path().extension() != ".pt2") continue;
      CAPTURE(entry.path().stem().string());
      check(profile_of(entry.path()), read(fs::path(entry.path()).replace_extension(".json")));
      ++compared;
    }
    CHECK(compared >= 30);
  }
}

}  // namespace symprof::zoo_test
