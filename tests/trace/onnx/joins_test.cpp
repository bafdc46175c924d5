// Restores one operator from several nodes of PyTorch's exporter.
#include <doctest/doctest.h>

#include "trace/graph/uses.h"
#include "trace/onnx/attention_join.h"
#include "trace/onnx/composites.h"
#include "trace/onnx/linear_join.h"
#include "trace/onnx/norm_join.h"
#include "trace/onnx/reader.h"

namespace symprof::joins_test {
namespace {

Graph parse(const std::string& graph) {
  return trace::parse_onnx_text(R"(<ir_version: 10, opset_import: ["" : 20]>)" + graph,
                                "model.onnx");
}

}  // namespace

TEST_SUITE("onnx_join") {
  TEST_CASE("two nodes of one exported call are joined to one operator") {
    const std::string text = R"(g (float[2] x) => (float[2] y) { s = Sigmoid(x)  y = Mul(x, s) })";
    Graph graph = parse(text);
    trace::join_composites(graph, {"silu_1", "silu_1"});
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes[0].op == "aten::silu");
    CHECK(std::get<ValueRef>(graph.nodes[0].arguments.at(0).value).id == graph.inputs[0]);
    Graph by_hand = parse(text);
    trace::join_composites(by_hand, {"sigmoid", "mul"});
    CHECK(by_hand.nodes.size() == 2);
    Graph read_twice =
        parse("g (float[2] x) => (float[2] s, float[2] y) { s = Sigmoid(x)  y = Mul(x, s) }");
    trace::join_composites(read_twice, {"silu_1", "silu_1"});
    CHECK(read_twice.nodes.size() == 2);
  }

  TEST_CASE("decomposed attention is joined") {
    Graph graph = parse(R"(g (float[1,2,4,8] q, float[1,2,8,4] k, float[1,2,4,8] v, bool[4,4] m)
      => (float[1,2,4,8] y)
      <float root = {0.5}, float zero = {0}, float hidden = {-inf}>
      { a = Mul(q, root)
        b = Mul(k, root)
        s = MatMul(a, b)
        w = Where(m, zero, hidden)
        t = Add(s, w)
        p = Softmax <axis = -1> (t)
        y = MatMul(p, v) })");
    std::vector<std::string> calls(graph.nodes.size(), "scaled_dot_product_attention_3");
    trace::join_attention(graph, calls);
    REQUIRE(graph.nodes.size() == 1);
    CHECK(calls.size() == 1);
    const Node& node = graph.nodes[0];
    CHECK(node.op == "aten::scaled_dot_product_attention");
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(std::get<ValueRef>(node.arguments[i].value).id == graph.inputs[i]);
    CHECK(node.arguments[3].name == "attn_mask");
    CHECK(std::get<ValueRef>(node.arguments[3].value).id == graph.inputs[3]);
    CHECK(std::get<double>(node.arguments[4].value) == 0.5 * 0.5);
  }

  TEST_CASE("attention is joined if its scale is computed from constants") {
    Graph graph = parse(R"(g (float[1,2,4,8] q, float[1,2,8,4] k, float[1,2,4,8] v)
      => (float[1,2,4,8] y) <int64 width = {16}, float one = {1}>
      { w = Cast <to = 1> (width)
        r = Sqrt(w)
        f = Div(one, r)
        g = Sqrt(f)
        a = Mul(q, g)
        h = CastLike(g, k)
        b = Mul(k, h)
        s = MatMul(a, b)
        p = Softmax <axis = -1> (s)
        y = MatMul(p, v) })");
    std::vector<std::string> calls(graph.nodes.size(), "scaled_dot_product_attention");
    trace::join_attention(graph, calls);
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes[0].arguments.back().name == "scale");
    CHECK(std::get<double>(graph.nodes[0].arguments.back().value) == doctest::Approx(1.0 / 4));
  }

  TEST_CASE("attention keeps its default scale, computed from a shape in unoptimized files") {
    const std::string text = R"(g (float[1,2,4,16] q, float[1,2,16,4] k, float[1,2,4,16] v)
      => (float[1,2,4,16] y) <int64[1] last = {-1}, float one = {1}>
      { z = Shape(q)
        e = Gather(z, last)
        w = CastLike(e, q)
        r = Sqrt(w)
        f = Div(one, r)
        c = CastLike(f, q)
        g = Sqrt(c)
        a = Mul(q, g)
        h = Sqrt(c)
        b = Mul(k, h)
        s = MatMul(a, b)
        p = Softmax <axis = -1> (s)
        y = MatMul(p, v) })";
    Graph graph = parse(text);
    std::vector<std::string> calls(graph.nodes.size(), "scaled_dot_product_attention");
    trace::join_attention(graph, calls);
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes[0].op == "aten::scaled_dot_product_attention");
    CHECK(graph.nodes[0].arguments.size() == 3);
  }

  TEST_CASE("batch norm without running statistics is joined") {
    const std::string text = R"(g (float[4,3,8] x, float[3] w, float[3] b) => (float[4,3,8] y)
      <int64[2] axes = {0, 2}>
      { m = ReduceMean <keepdims = 0> (x, axes)
        n = ReduceMean(x, axes)
        d = Sub(x, n)
        e = Mul(d, d)
        v = ReduceMean <keepdims = 0> (e, axes)
        y = BatchNormalization <epsilon = 0.5> (x, w, b, m, v) })";
    Graph graph = parse(text);
    std::vector<std::string> calls(graph.nodes.size(), "_native_batch_norm_legit_2");
    trace::join_norms(graph, calls);
    REQUIRE(graph.nodes.size() == 1);
    const Node& node = graph.nodes[0];
    CHECK(node.op == "aten::batch_norm");
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(std::get<ValueRef>(node.arguments[i].value).id == graph.inputs[i]);
    CHECK(std::holds_alternative<NoArgument>(node.arguments[3].value));
    CHECK(std::get<bool>(node.arguments[5].value));
    CHECK(std::get<double>(node.arguments[7].value) == 0.5);
    Graph by_hand = parse(text);
    calls.assign(by_hand.nodes.size(), "mean");
    trace::join_norms(by_hand, calls);
    CHECK(by_hand.nodes.size() == 6);
  }

  TEST_CASE("a constant mask is moved to the device") {
    Graph graph = parse(R"(g (float[1,2,4,8] q, float[1,2,8,4] k, float[1,2,4,8] v)
      => (float[1,2,4,8] y) <int64[4] places = {0, 1, 2, 3}, int64 two = {2}, float root = {0.5},
                             float zero = {0}, float hidden = {-inf}>
      { m = Less(places, two)
        a = Mul(q, root)
        b = Mul(k, root)
        s = MatMul(a, b)
        w = Where(m, zero, hidden)
        t = Add(s, w)
        p = Softmax <axis = -1> (t)
        y = MatMul(p, v) })");
    std::vector<std::string> calls(graph.nodes.size(), "scaled_dot_product_attention");
    calls[0] = "less";
    trace::join_attention(graph, calls);
    REQUIRE(graph.nodes.size() == 3);
    CHECK(graph.nodes[1].op == "aten::to");
    CHECK(std::get<ValueRef>(graph.nodes[1].arguments[0].value).id == graph.nodes[0].outputs[0]);
    CHECK(std::get<ValueRef>(graph.nodes[2].arguments[3].value).id == graph.nodes[1].outputs[0]);
  }

  TEST_CASE("the key of grouped heads keeps its shape in the call") {
    Graph graph = parse(R"(g (float[1,4,4,8] q, float[1,2,1,4,8] k, float[1,4,4,8] v)
      => (float[1,4,4,8] y) <int64[5] twice = {1, 2, 2, 4, 8}, int64[3] flat = {4, 4, 8},
                             int64[4] apart = {1, 4, 8, 4}, float root = {0.5}>
      { e = Expand(k, twice)
        f = Reshape(e, flat)
        t = Transpose <perm = [0, 2, 1]> (f)
        u = Reshape(t, apart)
        a = Mul(q, root)
        b = Mul(u, root)
        s = MatMul(a, b)
        p = Softmax <axis = -1> (s)
        y = MatMul(p, v) })");
    std::vector<std::string> calls(graph.nodes.size(), "scaled_dot_product_attention");
    calls[0] = "expand";
    trace::join_attention(graph, calls);
    REQUIRE(graph.nodes.size() == 6);
    const Node& back = graph.nodes[4];
    CHECK(back.op == "onnx::Transpose");
    CHECK(graph.nodes[5].op == "aten::scaled_dot_product_attention");
    CHECK(std::get<ValueRef>(graph.nodes[5].arguments[1].value).id == back.outputs[0]);
    CHECK(std::get<ValueRef>(back.arguments[0].value).id == graph.nodes[3].outputs[0]);
  }

  TEST_CASE("attention has the dropout and the causal mask of its call") {
    const std::string text =
        R"(g (float[1,2,4,8] q, float[1,2,8,4] k, float[1,2,4,8] v, float[4,4] m)
      => (float[1,2,4,8] y) <float root = {0.5}>
      { a = Mul(q, root)
        b = Mul(k, root)
        s = MatMul(a, b)
        t = Add(s, m)
        p = Softmax <axis = -1> (t)
        d = Dropout(p)
        y = MatMul(d, v) })";
    Graph graph = parse(text);
    std::vector<std::string> calls(graph.nodes.size(), "scaled_dot_product_attention");
    const trace::ExportedCalls exported{
        {calls.front(), {.arguments = {"%q", "%k", "%v", "None", "0.25", "True"}}}};
    trace::join_attention(graph, calls, exported);
    REQUIRE(graph.nodes.size() == 1);
    const Node& node = graph.nodes[0];
    CHECK(std::get<bool>(trace::find_argument(node, "is_causal")->value));
    CHECK(std::get<double>(trace::find_argument(node, "dropout_p")->value) == 0.25);
    CHECK(trace::find_argument(node, "attn_mask") == nullptr);
    CHECK(graph.export_record.lost_dropouts.empty());
    Graph in_parts = parse("g (float[2] x) => (float[2] y) { y = Relu(x) }");
    calls = {"scaled_dot_product_attention"};
    trace::join_attention(in_parts, calls, exported);
    CHECK(in_parts.export_record.lost_dropouts.size() == 1);
  }

  TEST_CASE("a product and a sum of one linear call are a linear layer") {
    const std::string text = R"(g (float[2,5,3] x) => (float[2,5,4] y)
      <float[3,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[4] b = {1, 2, 3, 4}>
      { p = MatMul(x, w)  y = Add(p, b) })";
    const auto join = [&](Graph& graph, std::vector<std::string> calls) {
      for (Value& value : graph.values)
        if (value.kind == ValueKind::parameter) value.kind = ValueKind::constant;
      trace::join_linear(graph, calls, {});
      CHECK(calls.size() == graph.nodes.size());
    };
    Graph graph = parse(text);
    join(graph, {"linear_2", "linear_2"});
    REQUIRE(graph.nodes.size() == 1);
    CHECK(graph.nodes[0].op == "aten::linear");
    CHECK(trace::operand(graph.nodes[0], 0) == graph.inputs[0]);
    const Value& weight = graph.value(trace::operand(graph.nodes[0], 1));
    CHECK(weight.spec->sizes == std::vector<std::int64_t>{4, 3});
    CHECK(weight.spec->strides == std::vector<std::int64_t>{3, 1});
    CHECK(graph.value(trace::operand(graph.nodes[0], 2)).name == "b");
    Graph by_hand = parse(text);
    join(by_hand, {"matmul", "add"});
    CHECK(by_hand.nodes.size() == 2);
  }

  TEST_CASE("a weight with other consumers is transposed only for the linear layer") {
    Graph graph = parse(R"(g (float[2,5,3] x, float[2,3] z) => (float[2,5,4] y, float[2,4] u)
      <float[3,4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[4] b = {1, 2, 3, 4}>
      { p = MatMul(x, w)  y = Add(p, b)  u = MatMul(z, w) })");
    for (Value& value : graph.values)
      if (value.kind == ValueKind::parameter) value.kind = ValueKind::constant;
    std::vector<std::string> calls{"linear", "linear", "matmul"};
    trace::join_linear(graph, calls, {});
    REQUIRE(graph.nodes.size() == 3);
    CHECK(graph.nodes[0].op == "aten::t");
    CHECK(graph.nodes[1].op == "aten::linear");
    CHECK(trace::operand(graph.nodes[1], 1) == graph.nodes[0].outputs[0]);
    CHECK(graph.nodes[2].op == "onnx::MatMul");
  }

  TEST_CASE("decomposed group norm is joined") {
    Graph graph = parse(R"(g (float[2,4,3] x) => (float[2,4,3] y)
      <int64[3] groups = {0, 2, -1}, float[2] ones = {1, 1}, float[2] zeros = {0, 0},
       int64[3] whole = {2, 4, 3}, float[4,1] w = {1, 2, 3, 4}, float[4,1] b = {0, 0, 0, 0}>
      { g = Reshape(x, groups)
        n = InstanceNormalization <epsilon = 0.5> (g, ones, zeros)
        r = Reshape(n, whole)
        m = Mul(r, w)
        y = Add(m, b) })");
    for (Value& value : graph.values)
      if (value.kind == ValueKind::parameter) value.kind = ValueKind::constant;
    std::vector<std::string> calls(graph.nodes.size(), "group_norm");
    trace::join_group_norms(graph, calls,
                            {{"group_norm", {.arguments = {"%x", "2", "%p_w", "None", "0.5"}}}});
    REQUIRE(graph.nodes.size() == 1);
    const Node& node = graph.nodes[0];
    CHECK(node.op == "aten::group_norm");
    CHECK(trace::operand(node, 0) == graph.inputs[0]);
    CHECK(std::get<std::int64_t>(node.arguments[1].value) == 2);
    CHECK(graph.value(trace::operand(node, 2)).spec->sizes == std::vector<std::int64_t>{4});
    CHECK(trace::operand(node, 3) == no_value);
    CHECK(std::get<double>(node.arguments[4].value) == 0.5);
  }
}

}  // namespace symprof::joins_test
