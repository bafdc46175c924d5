// Traces of real training steps beside the profiles of the same models.
#include "session/measured.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "base/error.h"
#include "measure/kineto/kineto.h"
#include "measure/run.h"
#include "session/session.h"
#include "tests/support/source_folder.h"

namespace symprof::test::measured_test {
namespace {

using measure::Measurement;
const std::string source = test::source_folder();

Settings settings_of(Loss loss, std::int64_t batch) {
  Settings settings;
  settings.step.loss = loss;
  settings.step.optimizer = Optimizer::sgd;
  if (batch > 0) settings.sizes = {{"batch", batch}};
  return settings;
}

double share(const Measurement& measurement) {
  return static_cast<double>(measurement.attributed_ns()) /
         static_cast<double>(measurement.total.total_ns());
}

/// Kernels of convolutions by the sizes of their weight, from the trace alone: forward kernels are
/// inside an operator with the weight as an input.
std::map<std::vector<std::int64_t>, std::int64_t> convolutions_of(const measure::Trace& trace) {
  std::map<std::vector<std::int64_t>, std::int64_t> sums;
  for (const measure::Activity& activity : trace.activities)
    for (measure::OperatorId id = activity.op; id != none;) {
      const measure::Operator& op = trace.operators[static_cast<std::size_t>(id)];
      if (op.name == "aten::conv2d") sums[op.input_sizes.at(1)] += activity.duration_ns();
      id = op.parent;
    }
  return sums;
}

}  // namespace

TEST_SUITE_BEGIN("measured");

TEST_CASE(
    "kernels of ResNet-50's V100 trace are mapped to the right nodes, as their weights show") {
  const std::string path = source + "/truth/kineto/data/v100_resnet50_train.json.gz";
  Session session(source + "/models/resnet50.pt2");
  const Profile profile = session.profile(settings_of(Loss::cross_entropy, 32));
  const Measurement found = read_measurement(path, profile);
  CHECK(share(found) >= 0.95);
  std::map<std::vector<std::int64_t>, std::int64_t> sums;
  const Recording& recording = profile.recording;
  for (std::size_t i = 0; i < recording.nodes.size(); ++i)
    if (recording.nodes[i].op == "aten::conv2d") {
      const auto spec = static_cast<std::size_t>(recording.nodes[i].inputs.at(1).spec);
      sums[recording.specs[spec].sizes] += found.nodes[i].forward_ns;
      CHECK(found.nodes[i].forward_ns > 0);
      CHECK(found.nodes[i].backward_ns > 0);
    }
  CHECK(sums == convolutions_of(measure::read_kineto(path)));
  // truth/kineto/expected.json, with the sums of gradients that moved.json gives to backward.
  CHECK(found.total.optimizer_ns == 1482'000);
  std::int64_t backward = 0;
  for (const measure::Times& times : found.nodes) backward += times.backward_ns;
  CHECK(static_cast<double>(backward) >= 0.95 * (61797 + 2625) * 1000);
}

TEST_CASE("CPU traces map 95 % of the operators' time to nodes") {
  struct Case {
    const char *trace, *model;
    std::int64_t batch;
  };
  const Case cases[] = {{"resnet50", "resnet50.pt2", 2},
                        {"resnet50", "resnet50.onnx", 2},
                        {"vit_b_16", "vit_b_16.pt2", 1},
                        {"vit_b_16", "vit_b_16.onnx", 1},
                        {"gpt2", "gpt2.pt2", 1},
                        {"bert_base", "bert_base.pt2", 1},
                        {"convnet", "tiny/convnet.pt2", 0},
                        {"tied_lm", "tiny/tied_lm.pt2", 0}};
  for (const Case& one : cases) {
    INFO(one.model);
    Session session(source + "/models/" + one.model);
    const Profile profile = session.profile(settings_of(Loss::sum, one.batch));
    const Measurement found =
        read_measurement(source + "/truth/kineto/cpu/" + one.trace + ".json.gz", profile);
    CHECK(found.clock == Measurement::Clock::host);
    CHECK(found.steps == 1);
    CHECK(share(found) >= 0.95);
  }
}

namespace {

/// A step that truth/kineto/record_cuda.py recorded, on the nodes of the same model's profile.
Measurement cuda_step(const std::string& folder, const std::string& model,
                      const std::string& mode) {
  const std::string name = model.substr(model.rfind('/') + 1);
  Settings settings = settings_of(Loss::sum, 0);
  settings.step.optimizer = Optimizer::adamw;
  if (mode == "autocast") settings.step.autocast = DType::bfloat16;
  Session session(source + "/models/" + model + ".pt2");
  return read_measurement(source + "/truth/kineto/" + folder + "/" + name + "_" + mode + ".json.gz",
                          session.profile(settings));
}

void check_on_nodes(const std::string& folder, const std::vector<std::string>& models,
                    double wanted) {
  for (const std::string& model : models)
    for (const char* mode : {"plain", "autocast", "checkpointed"}) {
      if ((model == "tiny/convnet" || model == "resnet50") && mode == std::string("checkpointed"))
        continue;  // PyTorch refuses it: a ReLU changes a checkpointed result in place.
      INFO(folder << " " << model << " " << mode);
      const Measurement found = cuda_step(folder, model, mode);
      CHECK(share(found) >= wanted);
      CHECK(found.unattributed.empty() == (share(found) == 1));
      CHECK(found.nodes.back().optimizer_ns == found.total.optimizer_ns);
      CHECK(found.total.optimizer_ns > 0);
    }
}

}  // namespace

TEST_CASE("every launch of PyTorch's CUDA build is on a node: plain, autocast, checkpointed") {
  check_on_nodes(
      "no_gpu",
      {"tiny/mlp", "tiny/convnet", "tiny/tied_lm", "tiny/reused_layer", "tiny/kept_base", "gpt2"},
      1);
}

TEST_CASE("99.9 % of an H200's time is on a node: plain, autocast, checkpointed") {
  check_on_nodes("h200",
                 {"tiny/mlp", "tiny/convnet", "tiny/tied_lm", "tiny/reused_layer", "tiny/kept_base",
                  "gpt2", "resnet50", "vit_b_16", "bert_base"},
                 0.999);
}

TEST_CASE("synthetic durations of GPT-2's products are mapped to its layers in order") {
  const std::string path = source + "/truth/kineto/no_gpu/gpt2_plain.json.gz";
  Session session(source + "/models/gpt2.pt2");
  const Profile profile = session.profile(settings_of(Loss::sum, 0));
  const Measurement found = read_measurement(path, profile);
  std::vector<std::int64_t> by_node;
  for (std::size_t i = 0; i < profile.recording.nodes.size(); ++i)
    if (profile.recording.nodes[i].op == "aten::addmm")
      by_node.push_back(found.nodes[i].forward_ns);
  // The k-th product of the trace is the k-th in the model's code.
  const measure::Trace trace = measure::read_kineto(path);
  std::map<measure::OperatorId, std::int64_t> by_call;
  for (const measure::Activity& activity : trace.activities)
    for (measure::OperatorId id = activity.op; id != none;) {
      const measure::Operator& op = trace.operators[static_cast<std::size_t>(id)];
      if (op.name == "aten::addmm") by_call[id] += activity.duration_ns();
      id = op.parent;
    }
  std::vector<std::int64_t> in_order;
  for (const auto& [id, ns] : by_call) in_order.push_back(ns);
  CHECK(by_node.size() == 48);
  CHECK(by_node == in_order);
}

namespace {

const measure::RunOptions two_steps{.steps = 2, .warm_up = 1};

/// Measures a step of a model on this machine. Its nodes are those of the profile.
Measurement measured_here(const std::string& model, const Settings& settings) {
  Session session(source + "/models/" + model);
  const PreparedModel prepared = session.prepare(settings);
  const Profile profile = session.profile(prepared);
  const measure::Run run = session.measure(prepared, two_steps);
  CHECK(run.step_us.size() == 2);
  return measure::measurement_of(run, profile.recording);
}

/// The nodes of `profile` whose operator is `op` and that took time in both passes.
int trained_nodes(const Profile& profile, const Measurement& found, const std::string& op) {
  int count = 0;
  for (std::size_t i = 0; i < profile.recording.nodes.size(); ++i)
    if (profile.recording.nodes[i].op == op && found.nodes[i].forward_ns > 0 &&
        found.nodes[i].backward_ns > 0)
      ++count;
  return count;
}

}  // namespace

TEST_CASE("a model's step runs node by node, forward and backward") {
  struct Case {
    const char *model, *op;
  };
  for (const Case& one :
       {Case{"tiny/convnet.pt2", "aten::conv2d"}, Case{"tiny/mlp.pt2", "aten::linear"},
        Case{"tiny/tied_lm.onnx", "aten::linear"}, Case{"tiny/tied_lm.pt2", "aten::embedding"}}) {
    INFO(one.model);
    const Settings settings = settings_of(Loss::mean, 0);
    Session session(source + "/models/" + one.model);
    const PreparedModel prepared = session.prepare(settings);
    const Profile profile = session.profile(prepared);
    const Measurement found =
        measure::measurement_of(session.measure(prepared, two_steps), profile.recording);
    int wanted = 0;
    for (const NodeRecord& node : profile.recording.nodes) wanted += node.op == one.op ? 1 : 0;
    REQUIRE(wanted > 0);
    CHECK(trained_nodes(profile, found, one.op) == wanted);
    CHECK(found.nodes.back().optimizer_ns > 0);
    CHECK(found.nodes[found.nodes.size() - 2].forward_ns > 0);  // The loss.
    CHECK(found.clock == Measurement::Clock::host);
  }
}

TEST_CASE(
    "a step runs with autocast, checkpointing, clipping, master weights, GradScaler, inference") {
  Settings settings = settings_of(Loss::cross_entropy, 0);
  settings.step.autocast = DType::bfloat16;
  settings.step.clip_grad_norm = true;
  CHECK(measured_here("tiny/convnet.pt2", settings).attributed_ns() > 0);
  settings = settings_of(Loss::mean, 0);
  settings.step.checkpoint = {"layers.*"};
  CHECK(measured_here("tiny/encoder.pt2", settings).attributed_ns() > 0);
  settings = settings_of(Loss::mean, 0);
  settings.dtype = DType::bfloat16;
  settings.step.master_weights = true;
  settings.step.optimizer = Optimizer::adamw;
  CHECK(measured_here("tiny/mlp.pt2", settings).attributed_ns() > 0);
  settings = settings_of(Loss::mean, 0);
  settings.step.grad_scaler = true;
  settings.step.clip_grad_norm = true;
  CHECK(measured_here("tiny/mlp.pt2", settings).total.optimizer_ns > 0);
  Settings inference;
  inference.mode = Mode::inference;
  const Measurement found = measured_here("tiny/mlp.pt2", inference);
  CHECK(found.total.forward_ns > 0);
  CHECK(found.total.backward_ns == 0);
  CHECK(found.total.optimizer_ns == 0);
}

TEST_CASE("settings that a CPU step does not support are refused by name") {
  const auto refused = [](const char* name, auto change) {
    Settings settings = settings_of(Loss::mean, 0);
    change(settings.step);
    Session session(source + "/models/tiny/mlp.pt2");
    const PreparedModel prepared = session.prepare(settings);
    try {
      session.measure(prepared, two_steps);
      FAIL("no refusal");
    } catch (const Error& error) {
      CHECK(error.is_about(name));
    }
  };
  refused("attention", [](StepOptions& step) { step.attention = AttentionBackend::math; });
  refused("offload_saved", [](StepOptions& step) { step.offload_saved = {"*"}; });
}

TEST_CASE("a saved run is read for the profile of the same model") {
  const Settings settings = settings_of(Loss::mean, 0);
  Session session(source + "/models/tiny/mlp.pt2");
  const PreparedModel prepared = session.prepare(settings);
  const measure::Run run = session.measure(prepared, two_steps);
  const std::string path = std::filesystem::temp_directory_path() / "symprof_run.json";
  std::ofstream(path) << measure::to_json(run);
  const Profile profile = session.profile(prepared);
  const Measurement read = read_measurement(path, profile);
  CHECK(read.total.total_ns() == measure::measurement_of(run, profile.recording).total.total_ns());
  std::filesystem::remove(path);
}

TEST_SUITE_END();

}  // namespace symprof::test::measured_test
