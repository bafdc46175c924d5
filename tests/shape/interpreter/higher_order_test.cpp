// Higher-order operators: the executed graphs, their repetitions, and the tensors saved for
// backward.
#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "shape/interpreter/interpreter.h"
#include "tests/support/torch/exported_profile.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof {
namespace {

using test::bounded_nodes;
using test::contiguous;
using test::GraphBuilder;
using test::message_of;
using test::narrow;
using test::profile_of;
using test::wide;

constexpr std::int64_t row_bytes = test::layer_width * 4;  // 4 bytes: float32.

class Silent : public shape::NodeObserver {
 public:
  void begin_node(std::size_t) override {}
  void end_node(std::size_t) override {}
};

/// The first output of `graph` for real inputs on the host.
at::Tensor run(const Graph& graph, const std::vector<at::Tensor>& inputs) {
  shape::Interpreter interpreter(graph, at::kCPU);
  for (std::size_t i = 0; i < inputs.size(); ++i) interpreter.set(graph.inputs[i], inputs[i]);
  Silent observer;
  interpreter.run(observer);
  return interpreter.get(graph.outputs.at(0)).toTensor();
}

std::shared_ptr<const Graph> shared(GraphBuilder builder, ValueId output) {
  builder.graph.outputs = {output};
  return std::make_shared<const Graph>(std::move(builder.graph));
}

/// (a, b) → op(a, b).
std::shared_ptr<const Graph> binary(const std::string& op, const std::string& overload) {
  GraphBuilder body;
  const ValueId a = body.input("a", contiguous({}));
  const ValueId b = body.input("b", contiguous({}));
  return shared(body, body.call(op, overload, {ValueRef{a}, ValueRef{b}}));
}

using List = std::vector<ListElement>;

}  // namespace
}  // namespace symprof

TEST_SUITE("exported_control") {
  using namespace symprof;

  TEST_CASE("a branch on a size saves its operands and is recomputed in backward") {
    const Profile few = profile_of("cond.pt2");  // Three rows: one layer.
    CHECK(few.totals.fwd_flops == narrow(3));
    CHECK(few.totals.bwd_flops == narrow(3) + narrow(3));
    CHECK(few.totals.saved_bytes == 0);
    const Profile many = profile_of("cond.pt2", {{"x.0", 5}});  // Two layers, tanh between.
    CHECK(many.totals.fwd_flops == 2 * wide(5));
    CHECK(many.totals.bwd_flops == 2 * wide(5) + 3 * wide(5));
    CHECK(many.totals.saved_bytes == 0);
    CHECK(bounded_nodes(many).empty());
    const Profile inference = profile_of("cond.pt2", {}, {.mode = Mode::inference});
    CHECK(inference.totals.fwd_flops == narrow(3));
    CHECK(inference.totals.bwd_flops == 0);
  }

  TEST_CASE("every call of a branch belongs to the node of the cond") {
    const Profile profile = profile_of("cond.pt2");
    const auto& nodes = profile.recording.nodes;
    for (const CallRecord& call : profile.recording.calls)
      if (call.phase == Phase::forward) CHECK(nodes.at(call.node).op == "higher_order::cond");
  }

  TEST_CASE("a data-dependent branch is refused, or the one that moves more bytes is taken") {
    const std::string refused = message_of([] { profile_of("cond_on_data.pt2"); });
    CHECK(refused.find("node cond (higher_order::cond): data-dependent control flow") !=
          refused.npos);
    CHECK(refused.find("unbacked=max") != refused.npos);
    const Profile profile = profile_of("cond_on_data.pt2", {}, {.unbacked = UnbackedSizes::max});
    CHECK(profile.totals.fwd_flops == 2 * wide(3));
    CHECK(bounded_nodes(profile) == std::vector<std::string>{"higher_order::cond"});
    CHECK(profile.warnings.size() == 1);
  }

  TEST_CASE("a loop counter is on the host, and the inputs of each iteration are saved") {
    const Profile profile = profile_of("while_loop.pt2");  // Three times three rows.
    CHECK(profile.totals.fwd_flops == 3 * narrow(3));
    CHECK(profile.totals.bwd_flops == 3 * narrow(3) + 3 * narrow(3) + 2 * narrow(3));
    CHECK(profile.totals.saved_bytes == 2 * 3 * row_bytes);
  }

  TEST_CASE("scan and map run their graph for each element") {
    const Profile scan = profile_of("scan.pt2");  // Six steps of four rows.
    CHECK(scan.totals.fwd_flops == 6 * narrow(4));
    CHECK(scan.totals.bwd_flops == 6 * narrow(4));
    const Profile map = profile_of("map.pt2");
    CHECK(map.totals.fwd_flops == 6 * narrow(4));
    CHECK(map.totals.bwd_flops == 2 * 6 * narrow(4));
    CHECK(map.totals.saved_bytes == 0);
  }

  TEST_CASE("operators that only run a graph are flattened") {
    const Profile profile = profile_of("wrappers.pt2");
    std::vector<std::string> ops;
    for (const NodeRecord& node : profile.recording.nodes)
      if (node.kind == NodeKind::operation) ops.push_back(node.op);
    CHECK(ops ==
          std::vector<std::string>{"aten::linear", "aten::tanh", "aten::linear", "aten::tanh"});
    CHECK(profile.totals.fwd_flops == 2 * narrow(3));
    CHECK(profile.totals.bwd_flops == 3 * narrow(3));
    CHECK(profile.totals.saved_bytes == 2 * 3 * row_bytes);
  }

  TEST_CASE("a checkpoint saves only its operands") {
    GraphBuilder body;
    const ValueId x = body.input("x", contiguous({3, 8}));
    const ValueId w = body.input("w", contiguous({8, 8}));
    const ValueId y = body.call("aten::linear", "default", {ValueRef{x}, ValueRef{w}});
    const auto graph = shared(body, body.call("aten::tanh", "default", {ValueRef{y}}));
    GraphBuilder b;
    const ValueRef in{b.input("x", contiguous({3, 8}))};
    const ValueRef weight{b.parameter("w", contiguous({8, 8}))};
    b.graph.outputs = {b.call("higher_order::tag_activation_checkpoint", "", {graph, in, weight})};
    const Profile profile = profile_of(b.graph);
    CHECK(profile.totals.fwd_flops == narrow(3));
    CHECK(profile.totals.bwd_flops == 2 * narrow(3));
    CHECK(profile.totals.saved_bytes == 0);
    GraphBuilder plain;
    const ValueRef same{plain.input("x", contiguous({3, 8}))};
    const ValueRef matrix{plain.parameter("w", contiguous({8, 8}))};
    const ValueId z = plain.call("aten::linear", "default", {same, matrix});
    plain.graph.outputs = {plain.call("aten::tanh", "default", {ValueRef{z}})};
    CHECK(profile_of(plain.graph).totals.saved_bytes == 3 * row_bytes);
  }

  TEST_CASE("associative_scan of sums is a cumulative sum for any length") {
    for (const std::int64_t length : {1, 2, 3, 4, 7, 8, 9}) {
      GraphBuilder b;
      const ValueRef x{b.input("x", contiguous({length, 2}))};
      b.graph.outputs = {b.call("higher_order::associative_scan", "",
                                {binary("aten::add", "Tensor"), List{x}, List{}})};
      const at::Tensor numbers = at::arange(2 * length, at::kFloat).reshape({length, 2});
      CHECK(at::equal(run(b.graph, {numbers}), at::cumsum(numbers, 0)));
    }
  }

  TEST_CASE("with real tensors a branch follows the value") {
    GraphBuilder b;
    const ValueRef flag{b.input("flag", contiguous({}, DType::boolean))};
    const ValueRef x{b.input("x", contiguous({2}))};
    b.graph.outputs = {
        b.call("higher_order::cond", "",
               {flag, binary("aten::add", "Tensor"), binary("aten::mul", "Tensor"), List{x, x}})};
    const at::Tensor three = at::full({2}, 3.0F);
    CHECK(at::equal(run(b.graph, {at::scalar_tensor(true, at::kBool), three}), three + three));
    CHECK(at::equal(run(b.graph, {at::scalar_tensor(false, at::kBool), three}), three * three));
  }

  TEST_CASE("unsupported operators come with advice") {
    GraphBuilder b;
    const ValueRef x{b.input("x", contiguous({2, 2, 16, 8}))};
    b.call("higher_order::flex_attention", "", {x, x, x});
    const std::string text = message_of([&] { profile_of(b.graph); });
    CHECK(text.find("higher_order::flex_attention (node n0)") != text.npos);
    CHECK(text.find("scaled_dot_product_attention") != text.npos);
    GraphBuilder v;
    v.call("python::torch._functorch.predispatch._vmap_decrement_nesting", "", {});
    const std::string vmap = message_of([&] { profile_of(v.graph); });
    CHECK(vmap.find("run_decompositions") != vmap.npos);
  }

  TEST_CASE("a joint forward-backward graph is one pass") {
    const Profile profile = profile_of("joint.pt2");
    const std::int64_t forward = 2 * wide(3) + narrow(3), backward = 3 * wide(3) + narrow(3);
    CHECK(profile.totals.fwd_flops == forward + backward);
    CHECK(profile.totals.bwd_flops == 0);
    CHECK(profile.warnings.at(0).find("backward pass as well") != std::string::npos);
  }

  TEST_CASE("constant inputs, a complex number, a frozen weight, a mutated buffer") {
    const Profile profile = profile_of("constants.pt2");
    CHECK(profile.totals.fwd_flops == narrow(3));
    CHECK(profile.totals.bwd_flops == 0);  // Only the bias needs a gradient.
    CHECK(profile.totals.grad_bytes == row_bytes);
    CHECK(profile.coverage.unmodelled == 0);
    for (const NodeRecord& node : profile.recording.nodes)
      if (node.op == "aten::full")
        CHECK(name(profile.recording.specs.at(node.outputs.at(0).spec).dtype) == "complex64");
  }

  // 2.8 changed the layout, and how symbols are called.
  TEST_CASE("archives of PyTorch 2.4 to 2.14") {
    const std::int64_t rows = 4, in = 16, out = 32;
    for (const int minor : {4, 6, 7, 8, 9, 10, 11, 12, 13, 14}) {
      const std::string name = "archive_2_" + std::to_string(minor) + ".pt2";
      CAPTURE(name);
      const Profile profile = profile_of(name);
      CHECK(profile.totals.fwd_flops == 2 * test::product(rows, in, out));
      CHECK(profile.totals.bwd_flops == 3 * test::product(rows, in, out));
      CHECK(profile.totals.param_count == in * out + out + out * in);
      CHECK(profile.coverage.unmodelled == 0);
      const auto& nodes = profile.recording.nodes;
      CHECK(std::ranges::count(nodes, "down", &NodeRecord::module) == 1);
      const char* batch = minor < 8 ? "s0" : minor < 10 ? "s77" : "s6";
      CHECK(profile_of(name, {{batch, 8}}).totals.fwd_flops == 2 * profile.totals.fwd_flops);
    }
  }
}
