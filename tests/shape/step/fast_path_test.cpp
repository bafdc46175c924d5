// Fused operators of nn.MultiheadAttention and nn.TransformerEncoderLayer in evaluation, against
// the calls and allocations of PyTorch's CUDA build (truth/fast_path/record.py).
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profile/memory/step_memory.h"
#include "profile/profile.h"
#include "shape/step/propagate.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::fast_path_test {
namespace {

using nlohmann::json;

TensorSpec parse_tensor(const std::string& text) {
  const std::size_t open = text.find('[');
  std::vector<std::int64_t> sizes;
  for (std::size_t at = open; text[at] != ']';) {
    const char* first = text.data() + at + 1;
    const auto end =
        std::from_chars(first, text.data() + text.size(), sizes.emplace_back()).ptr - text.data();
    at = static_cast<std::size_t>(end);
  }
  return test::contiguous(sizes, parse_dtype(text.substr(0, open)).value());
}

/// A graph with one call; `of` is a case of record.py.
class Case {
 public:
  explicit Case(const json& of)
      : of_(of), width_(of.at("width")), dtype_(*parse_dtype(of.value("dtype", "float32"))) {}

  Graph graph() {
    const std::string op = of_.at("op");
    const auto input = [&] {
      return make(ValueKind::input, {of_.at("batch"), of_.at("length"), width_});
    };
    const ValueRef x = input();
    if (op == "_transformer_encoder_layer_fwd") {
      add_all({x, width_, of_.at("heads").get<std::int64_t>()});
      add_projections();
      add_all({of_.value("gelu", false), of_.value("norm_first", false), 1e-5});
      for (int norm = 0; norm < 4; ++norm) add_parameter({width_});
      const std::int64_t inner = of_.at("inner");
      add_parameter({inner, width_});
      add_parameter({inner});
      add_parameter({width_, inner});
      add_parameter({width_});
      add_mask();
    } else {
      const int inputs = of_.value("inputs", 1);
      const ValueRef key = inputs > 1 ? input() : x;
      add_all({x, key, inputs > 2 ? input() : key, width_, of_.at("heads").get<std::int64_t>()});
      add_projections();
      add_mask();
      add_all({of_.value("need_weights", false), of_.value("average", false)});
    }
    arguments_.push_back(of_.contains("mask_type")
                             ? ArgumentValue(of_.at("mask_type").get<std::int64_t>())
                             : ArgumentValue(NoArgument{}));
    b_.call("aten::" + op, "default", {});
    Node& node = b_.graph.nodes.back();
    for (const ArgumentValue& argument : arguments_) node.arguments.push_back({"", argument});
    if (op == "_native_multi_head_attention")
      node.outputs.push_back(b_.graph.add_value({.name = "weights"}));
    b_.graph.outputs = node.outputs;
    return b_.graph;
  }

 private:
  ValueRef make(ValueKind kind, std::vector<std::int64_t> sizes) {
    const std::string name = fmt::format("t{}", b_.graph.values.size());
    return {b_.value(name, kind, test::contiguous(std::move(sizes), dtype_))};
  }
  void add_all(std::initializer_list<ArgumentValue> values) {
    arguments_.insert(arguments_.end(), values);
  }
  void add_parameter(std::vector<std::int64_t> sizes) {
    arguments_.push_back(make(ValueKind::parameter, std::move(sizes)));
  }
  void add_projections() {
    add_parameter({3 * width_, width_});
    add_parameter({3 * width_});
    add_parameter({width_, width_});
    add_parameter({width_});
  }
  void add_mask() {
    if (of_.contains("mask"))
      arguments_.push_back(ValueRef{b_.input("mask", parse_tensor(of_.at("mask")))});
    else
      arguments_.push_back(NoArgument{});
  }

  const json& of_;
  std::int64_t width_;
  DType dtype_;
  test::GraphBuilder b_;
  std::vector<ArgumentValue> arguments_;
};

bool is_of_operation(const Recording& recording, CallId id) {
  if (id == none) return false;
  const CallRecord& call = recording.calls[static_cast<std::size_t>(id)];
  return recording.nodes[static_cast<std::size_t>(call.node)].kind == NodeKind::operation;
}

/// Calls named in any case of the golden data, with the sizes of their tensors; a list of tensors
/// has no sizes.
std::vector<std::string> calls_of(const Recording& recording, const json& cases) {
  std::vector<std::string> written, calls;
  for (const auto& [name, record] : cases.items())
    for (const std::string call : record.at("calls"))
      written.push_back(call.substr(0, call.find('[')));
  for (const CallRecord& call : recording.calls) {
    const std::string op = recording.ops[static_cast<std::size_t>(call.op)].substr(6);
    if (std::ranges::find(written, op) == written.end()) continue;
    std::vector<std::string> sizes;
    for (const TensorRecord& input : call.inputs)
      if (op != "cat")
        sizes.push_back(fmt::format(
            "[{}]", fmt::join(recording.specs[static_cast<std::size_t>(input.spec)].sizes, ",")));
    calls.push_back(fmt::format("{}[{}]", op, fmt::join(sizes, ",")));
  }
  return calls;
}

/// Live bytes as in the golden data, including kernels' scratch; cuBLAS's workspace was allocated
/// before.
std::vector<std::int64_t> live_bytes(const Recording& recording, const DeviceSpec& device) {
  std::vector<std::int64_t> sums;
  std::int64_t live = 0;
  for (const auto& entry : profile::trace_step_memory(recording, device, {.steps = 1}).entries) {
    if (!is_of_operation(recording, entry.call) || entry.category == MemoryCategory::workspace)
      continue;
    if (entry.event.action == profile::AllocatorAction::alloc)
      sums.push_back(live += entry.event.bytes);
    if (entry.event.action == profile::AllocatorAction::free) live -= entry.event.bytes;
  }
  return sums;
}

/// FLOPs of the products: the input projections, the scores, the weighted values, the output
/// projection, the layer's two.
std::int64_t product_flops(const json& of) {
  const std::int64_t batch = of.at("batch"), length = of.at("length"), width = of.at("width");
  const std::int64_t inner =
      of.at("op") == "_transformer_encoder_layer_fwd" ? of.at("inner").get<std::int64_t>() : 0;
  return 2 * batch * length * width * (3 * width + 2 * length + width + 2 * inner);
}

}  // namespace

TEST_SUITE("fast_path") {
  TEST_CASE("the fast path of attention and encoder layers makes PyTorch's calls and allocations") {
    const std::filesystem::path source_dir = test::source_folder();
    std::ifstream file(source_dir / "truth/fast_path/calls.json");
    const json cases = json::parse(file);
    CHECK(cases.size() >= 16);
    for (const auto& [name, record] : cases.items()) {
      CAPTURE(name);
      StepOptions options{.mode = Mode::inference};
      options.device = load_device((source_dir / "devices/h200.json").string());
      if (record.at("of").contains("dtype") && !record.at("of").contains("mask"))
        options.attention = AttentionBackend::flash;  // The golden data is without cuDNN.
      const Recording recording = shape::propagate(Case(record.at("of")).graph(), options);
      CHECK(calls_of(recording, cases) == record.at("calls").get<std::vector<std::string>>());
      CHECK(live_bytes(recording, options.device) ==
            record.at("live_bytes").get<std::vector<std::int64_t>>());
      const Profile profile = profile::evaluate(recording, options.device);
      CHECK(profile.totals.fwd_flops == product_flops(record.at("of")));
      CHECK(profile.coverage.unmodelled_ops.empty());
    }
  }
}

}  // namespace symprof::fast_path_test
