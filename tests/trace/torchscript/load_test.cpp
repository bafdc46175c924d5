// TorchScript files against the .pt2 files of the same models, and features of scripts.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "trace/load.h"
#include "trace/passes/training_mode.h"
#include "trace/torchscript/archive.h"
#include "trace/torchscript/load.h"

namespace symprof {
namespace {

namespace fs = std::filesystem;
const fs::path models = fs::path(test::source_folder()) / "models";

Totals totals_of(const Graph& graph, Mode mode) {
  StepOptions options;
  options.mode = mode;
  options.device = load_device((fs::path(test::source_folder()) / "devices/h200.json").string());
  return profile::evaluate(shape::propagate(graph, options), options.device).totals;
}

Totals exported_totals(const std::string& name, trace::TrainingMode mode) {
  Graph graph = trace::load((models / (name + ".pt2")).string());
  trace::set_training_mode(graph, mode);
  trace::bind_inputs(graph, {}, {});
  return totals_of(graph, mode == trace::TrainingMode::train ? Mode::train : Mode::eval);
}

Totals script_totals(const std::string& name, trace::TrainingMode mode,
                     std::vector<trace::InputOverride> inputs = {}) {
  Graph graph = trace::load_torchscript((models / (name + ".pt")).string(),
                                        {.inputs = std::move(inputs), .mode = mode});
  trace::set_training_mode(graph, mode);
  return totals_of(graph, mode == trace::TrainingMode::train ? Mode::train : Mode::eval);
}

void check_equal(const Totals& script, const Totals& exported) {
  CHECK(script.fwd_flops == exported.fwd_flops);
  CHECK(script.bwd_flops == exported.bwd_flops);
  CHECK(script.saved_bytes == exported.saved_bytes);
  CHECK(script.param_bytes == exported.param_bytes);
  CHECK(script.param_count == exported.param_count);
  CHECK(script.buffer_bytes == exported.buffer_bytes);
  CHECK(script.input_bytes == exported.input_bytes);
}

Graph control_flow(std::vector<std::string> inputs, trace::TorchScriptOptions options = {}) {
  for (const std::string& input : inputs)
    options.inputs.push_back(trace::parse_input_override(input));
  return trace::load_torchscript((models / "tiny/control_flow.pt").string(), options);
}

std::ptrdiff_t count(const Graph& graph, std::string_view op) {
  return std::ranges::count(graph.nodes, op, &Node::op);
}

const std::string& scope_of(const Graph& graph, const Node& node) {
  return graph.scopes[static_cast<std::size_t>(node.scope)].path;
}

// A temporary copy of a file, removed with this object.
struct Copy {
  Copy(const fs::path& from, const std::string& name) : path(fs::temp_directory_path() / name) {
    fs::copy_file(from, path, fs::copy_options::overwrite_existing);
  }
  ~Copy() { fs::remove(path); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  fs::path path;
};

}  // namespace
}  // namespace symprof

TEST_SUITE("torchscript") {
  using namespace symprof;
  using trace::TrainingMode;

  TEST_CASE("a traced model costs the same as its export, train and eval") {
    for (const char* name : {"resnet50", "vit_b_16", "gpt2", "tiny/convnet", "tiny/tied_lm",
                             "tiny/aliases", "tiny/rearranged", "tiny/dynamic_shapes"})
      for (const TrainingMode mode : {TrainingMode::train, TrainingMode::eval}) {
        CAPTURE(name);
        CAPTURE(mode == TrainingMode::train);
        check_equal(script_totals(name, mode), exported_totals(name, mode));
      }
  }

  TEST_CASE("a scripted model costs the same as its export, given its input") {
    for (const TrainingMode mode : {TrainingMode::train, TrainingMode::eval})
      check_equal(script_totals("tiny/mlp", mode, {trace::parse_input_override("x=float32[8,64]")}),
                  exported_totals("tiny/mlp", mode));
  }

  TEST_CASE("a loop's trip count follows the sizes") {
    for (const int length : {1, 3, 4}) {
      const Graph graph = control_flow({fmt::format("x=float32[2,{},8]", length)});
      CHECK(count(graph, "aten::tanh") == length);
      CHECK(count(graph, "aten::linear") == length + 2);  // And two layers after the loop.
    }
  }

  TEST_CASE("branches follow sizes and the mode") {
    const Graph wide = control_flow({"x=float32[2,5,8]"});
    CHECK(count(wide, "aten::linear") == 5 + 1);  // 32 columns, so no layer after.
    CHECK(count(wide, "aten::dropout") == 0);
    CHECK(count(control_flow({"x=float32[2,3,8]"}), "aten::dropout") == 1);
    CHECK(count(control_flow({"x=float32[2,3,8]"}, {.mode = TrainingMode::eval}),
                "aten::dropout") == 0);
  }

  TEST_CASE("a number is an input if set, else its default") {
    const Graph graph = control_flow({"x=float32[2,3,8]"}, {.bindings = {{"repeats.0", 4}}});
    CHECK(count(graph, "aten::relu") == 4 * 2);
    CHECK(count(control_flow({"x=float32[2,3,8]"}), "aten::relu") == 1 * 2);
  }

  TEST_CASE("scopes are the called modules") {
    const Graph graph = control_flow({"x=float32[2,2,8]"});
    std::vector<std::string> scopes;
    for (const Node& node : graph.nodes)
      if (node.op == "aten::linear") scopes.push_back(scope_of(graph, node));
    CHECK(scopes == std::vector<std::string>{"cell", "cell@1", "layers.0", "layers.1"});
    const auto cell = std::ranges::find(graph.scopes, "cell", &Scope::path);
    CHECK(cell->type == "torch.nn.modules.linear.Linear");
  }

  TEST_CASE("a region without gradients saves nothing") {
    const Graph graph = control_flow({"x=float32[2,2,8]"});
    const auto begin = std::ranges::find(graph.nodes, "region::grad_mode", &Node::op);
    const auto end = std::ranges::find(graph.nodes, "region::end", &Node::op);
    REQUIRE(begin < end);
    CHECK(std::count_if(begin, end, [](const Node& n) { return n.op == "aten::abs"; }) == 1);
  }

  TEST_CASE("the requested dtype applies to the module and its inputs") {
    const Graph graph = control_flow({"x=bfloat16[2,2,8]"}, {.dtype = DType::bfloat16});
    for (const Value& value : graph.values)
      if (value.kind == ValueKind::parameter) CHECK(value.spec->dtype == DType::bfloat16);
  }

  TEST_CASE("a device move traced with a dtype follows the requested dtype") {
    const Graph script =
        trace::load_torchscript((models / "gpt2.pt").string(), {.dtype = DType::bfloat16});
    Graph exported = trace::load((models / "gpt2.pt2").string());
    trace::cast_floating_point(exported, DType::bfloat16);
    trace::bind_inputs(exported, {}, {});
    check_equal(totals_of(script, Mode::train), totals_of(exported, Mode::train));
  }

  TEST_CASE("weights are not read") {
    const auto script = models / "resnet50.pt";
    const auto archive = trace::torchscript::read_archive(script.string());
    std::int64_t weight_bytes = 0;
    for (const at::Tensor& parameter : archive.module.parameters())
      weight_bytes += static_cast<std::int64_t>(parameter.nbytes());
    CHECK(weight_bytes == 25557032 * 4);
    // Larger than the file: a contained weight record would be skipped, these are empty.
    CHECK(archive.bytes_read < 2 * fs::file_size(script));
  }

  TEST_CASE("large records are skipped") {
    torch::jit::Module module("large");
    module.register_parameter("weight", at::zeros({1 << 20}), false);
    module.define("def forward(self, x):\n  return x * self.weight\n");
    const fs::path path = fs::temp_directory_path() / "symprof_large.pt";
    module.save(path.string());
    CHECK(fs::file_size(path) > (1 << 22));
    CHECK(trace::torchscript::read_archive(path.string()).bytes_read < (1 << 16));
    const Graph graph = trace::load_torchscript(
        path.string(), {.inputs = {trace::parse_input_override("x=float32[1048576]")}});
    CHECK(totals_of(graph, Mode::train).param_bytes == std::int64_t{4} << 20);
    fs::remove(path);
  }

  TEST_CASE("an input without a shape is an error") {
    CHECK_THROWS_WITH_AS(control_flow({}), doctest::Contains("inputs x=float32["), Error);
    CHECK_THROWS_WITH_AS(control_flow({"y=float32[2,2,8]", "x=float32[2,2,8]"}),
                         doctest::Contains("no input 'y'"), Error);
  }

  TEST_CASE("an error names the operator and the line") {
    CHECK_THROWS_WITH_AS(control_flow({"x=float32[2,2,9]"}), doctest::Contains("node aten::linear"),
                         Error);
  }

  TEST_CASE("code that reads data, never ends, raises, or mutates a parameter is refused") {
    const auto load = [](const std::string& code) {
      torch::jit::Module module("bad");
      module.register_parameter("weight", at::ones({4}).set_requires_grad(true),
                                /*is_buffer=*/false);
      module.define(code);
      const fs::path path = fs::temp_directory_path() / "symprof_bad.pt";
      module.save(path.string());
      try {
        trace::load_torchscript(path.string(),
                                {.inputs = {trace::parse_input_override("x=float32[4]")}});
      } catch (const Error& error) {
        fs::remove(path);
        return std::string(error.what());
      }
      return std::string("no error");
    };
    CHECK(load("def forward(self, x):\n  if bool(x.sum() > 0):\n    x = x + 1\n  return x\n")
              .find("without storage has no value") != std::string::npos);
    CHECK(load("def forward(self, x):\n  while True:\n    x = x\n  return x\n").find("steps") !=
          std::string::npos);
    CHECK(load("def forward(self, x):\n  assert x.dim() == 2, 'two'\n  return x\n")
              .find("the code raises") != std::string::npos);
    CHECK(load("def forward(self, x):\n  return self.weight.add_(x)\n")
              .find("changes a parameter, or a view of one, in place") != std::string::npos);
  }

  TEST_CASE("a truncated or damaged file is an error") {
    const Copy copy(models / "tiny/control_flow.pt", "symprof_truncated.pt");
    const auto size = fs::file_size(copy.path);
    for (std::uintmax_t keep = 0; keep < size; keep += size / 23) {
      fs::resize_file(copy.path, keep);
      CHECK_THROWS_AS(trace::load_torchscript(copy.path.string(), {}), Error);
      fs::copy_file(models / "tiny/control_flow.pt", copy.path,
                    fs::copy_options::overwrite_existing);
    }
  }
}
