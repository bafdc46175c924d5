#include "trace/exported/reader.h"
#include "trace/load.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "tests/support/exported_archive.h"
#include "tests/support/source_folder.h"
#include "trace/exported/arguments.h"
#include "trace/exported/srepr.h"

namespace {

using namespace symprof;
using test::load;
using test::Program;
using test::relu_program;

Graph load_model(const std::string& name) {
  Graph graph = trace::load(test::source_folder() + "/models/" + name);
  trace::verify(graph);
  return graph;
}

const Value& value(const Graph& graph, const std::string& name) {
  for (const Value& candidate : graph.values)
    if (candidate.name == name) return candidate;
  FAIL("no value " << name);
  return graph.values[0];
}

/// The relu program with one more argument, `json` as its value.
ArgumentValue argument(const std::string& json) {
  Program program = relu_program();
  program.nodes = fmt::format(
      R"({{"target": "torch.ops.aten.relu.default", "name": "relu", "metadata": {{}},
          "inputs": [{{"name": "self", "arg": {{"as_tensor": {{"name": "x"}}}}}},
                     {{"name": "a", "arg": {}}}], "outputs": [{{"as_tensor": {{"name": "y"}}}}]}})",
      json);
  return load(program).nodes.at(0).arguments.at(1).value;
}

/// What the reader says of a file that it does not read.
std::string refusal_of(const std::string& path) {
  try {
    trace::load(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// One entry of a weights config.
std::string payload(const std::string& record, const std::string& sizes, const std::string& strides,
                    const std::string& device) {
  return fmt::format(
      R"({{"path_name": "{}", "is_param": true, "use_pickle": false, "tensor_meta": {}}})", record,
      test::tensor_meta(7, sizes, strides, device));
}

}  // namespace

TEST_SUITE("exported") {
  TEST_CASE("a node has its operator, arguments by name, and its module") {
    const Graph graph = load(relu_program());
    CHECK(graph.format == "exported");
    CHECK(graph.producer == "pytorch 2.13.0");
    REQUIRE(graph.nodes.size() == 1);
    const Node& node = graph.nodes[0];
    CHECK(node.op == "aten::relu");
    CHECK(node.overload == "default");
    CHECK(node.arguments.at(0).name == "self");
    CHECK(std::get<ValueRef>(node.arguments.at(0).value).id == graph.inputs.at(0));
    CHECK(graph.scopes.at(0).type == "app.Net");
    CHECK(graph.scopes.at(static_cast<std::size_t>(node.scope)).path == "act");
    CHECK(graph.scopes.at(static_cast<std::size_t>(node.scope)).type == "torch.nn.ReLU");
    CHECK(value(graph, "x").spec == TensorSpec{DType::float32, {2, 3}, {3, 1}, 0});
    CHECK(graph.outputs == node.outputs);
  }

  TEST_CASE("argument kinds") {
    CHECK(std::holds_alternative<NoArgument>(argument(R"({"as_none": true})")));
    CHECK(std::get<std::int64_t>(argument(R"({"as_int": -3})")) == -3);
    CHECK(std::get<double>(argument(R"({"as_float": 0.5})")) == 0.5);
    CHECK(std::get<double>(argument(R"({"as_float": 2})")) == 2.0);
    CHECK(std::get<double>(argument(R"({"as_float": "-Infinity"})")) == -INFINITY);
    CHECK(std::isnan(std::get<double>(argument(R"({"as_float": "NaN"})"))));
    CHECK(std::get<bool>(argument(R"({"as_bool": true})")));
    CHECK(std::get<std::string>(argument(R"({"as_string": "tanh"})")) == "tanh");
    CHECK(std::get<DType>(argument(R"({"as_scalar_type": 13})")) == DType::bfloat16);
    CHECK(std::get<DType>(argument(R"({"as_scalar_type": 12})")) == DType::boolean);
    CHECK(std::get<DType>(argument(R"({"as_scalar_type": 5})")) == DType::int64);
    CHECK(std::get<MemoryFormat>(argument(R"({"as_memory_format": 4})")) == MemoryFormat::preserve);
    CHECK(std::get<Layout>(argument(R"({"as_layout": 7})")) == Layout::strided);
    CHECK(std::get<DeviceName>(argument(R"({"as_device": {"type": "cuda", "index": 1}})")).name ==
          "cuda:1");
    CHECK(std::get<std::vector<std::int64_t>>(argument(R"({"as_ints": [1, -1]})")) ==
          std::vector<std::int64_t>{1, -1});
    CHECK(std::get<std::vector<double>>(argument(R"({"as_floats": [1.5]})")) ==
          std::vector<double>{1.5});
    CHECK(std::get<std::vector<bool>>(argument(R"({"as_bools": [true, false]})")) ==
          std::vector<bool>{true, false});
    CHECK(std::get<std::int64_t>(argument(R"({"as_sym_int": {"as_int": 4}})")) == 4);
    CHECK(std::holds_alternative<ValueRef>(argument(R"({"as_sym_int": {"as_name": "x"}})")));
    CHECK(std::get<std::vector<std::int64_t>>(argument(R"({"as_sym_ints": [{"as_int": 4}]})")) ==
          std::vector<std::int64_t>{4});
    const auto mixed = std::get<std::vector<ListElement>>(
        argument(R"({"as_sym_ints": [{"as_name": "x"}, {"as_int": 4}]})"));
    CHECK(std::holds_alternative<ValueRef>(mixed.at(0)));
    CHECK(std::get<std::int64_t>(mixed.at(1)) == 4);
    const auto optional = std::get<std::vector<ListElement>>(
        argument(R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})"));
    CHECK(std::holds_alternative<NoArgument>(optional.at(0)));
    CHECK(std::holds_alternative<ValueRef>(optional.at(1)));
  }

  TEST_CASE("operators are named by their origin") {
    using trace::exported::operator_name;
    CHECK(operator_name("torch.ops.aten.add.Tensor").op == "aten::add");
    CHECK(operator_name("torch.ops.aten.add.Tensor").overload == "Tensor");
    CHECK(operator_name("torch.ops.higher_order.cond").op == "higher_order::cond");
    CHECK(operator_name("_operator.mul").op == "builtin::mul");
    CHECK(operator_name("math.trunc").op == "builtin::trunc");
    CHECK(operator_name("torch.sym_float").op == "builtin::sym_float");
    CHECK(operator_name("torch._sym_sqrt").op == "builtin::sym_sqrt");
    CHECK(operator_name("my.module.function").op == "python::my.module.function");
  }

  TEST_CASE("sympy's notation becomes infix") {
    const trace::exported::Place place{"file", "record"};
    const auto infix = [&](const std::string& text) { return trace::exported::infix(text, place); };
    const std::string s = "Symbol('s7', positive=True, integer=True)";
    CHECK(infix(s) == "s7");
    CHECK(infix("Mul(Integer(2), " + s + ")") == "2*s7");
    CHECK(infix("Mul(Integer(2), Add(" + s + ", Integer(-1)))") == "2*(s7 + -1)");
    CHECK(infix("Mul(Rational(1, 2), " + s + ")") == "(s7)//(2)");
    CHECK(infix("FloorDiv(" + s + ", Integer(4))") == "FloorDiv(s7, 4)");
    CHECK(infix("s7 + 1") == "s7 + 1");
    CHECK_THROWS_AS(infix("Mul(Integer(2), Symbol("), Error);
  }

  TEST_CASE("a branch is a nested graph") {
    const Program branch = relu_program();
    const std::string json =
        fmt::format(R"({{"as_graph": {{"name": "body", "graph": {{"inputs": [{}], "outputs": [{}],
                        "nodes": [{}], "tensor_values": {{{}}}}}}}}})",
                    branch.inputs, branch.outputs, branch.nodes, branch.tensor_values);
    const auto body = std::get<std::shared_ptr<const Graph>>(argument(json));
    CHECK(body->nodes.at(0).op == "aten::relu");
    CHECK(body->inputs.size() == 1);
    CHECK(body->outputs == body->nodes.at(0).outputs);
  }

  TEST_CASE("unused results have no value, and a list result is marked") {
    Program program = relu_program();
    program.nodes += R"(, {"target": "torch.ops.aten.max.dim", "name": "max_1", "metadata": {},
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
        "outputs": [{"as_tensor": {"name": "getitem"}}, {"as_tensor": {"name": "max_1_unused_1"}}]},
      {"target": "torch.ops.aten.chunk.default", "name": "chunk", "metadata": {},
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
        "outputs": [{"as_tensors": [{"name": "a"}, {"name": "b"}]}]})";
    const Graph graph = load(program);
    CHECK(graph.nodes.at(1).outputs.at(1) == no_value);
    CHECK_FALSE(graph.nodes.at(1).outputs_are_list);
    CHECK(graph.nodes.at(2).outputs.size() == 2);
    CHECK(graph.nodes.at(2).outputs_are_list);
  }

  TEST_CASE("symbolic sizes keep their expression and the example's size") {
    Program program = relu_program();
    const std::string s = "Symbol('s7', positive=True, integer=True)";
    const std::string size = fmt::format(
        R"j({{"as_expr": {{"expr_str": "Mul(Integer(3), {})", "hint": {{"as_int": 6}}}}}})j", s);
    program.tensor_values = fmt::format(
        R"("x": {}, "y": {})",
        test::tensor_meta(7, size + R"(, {"as_int": 5})", R"({"as_int": 5}, {"as_int": 1})"),
        test::tensor_meta(7, size, R"({"as_int": 1})"));
    program.range_constraints = R"("s7": {"min_val": 2, "max_val": null})";
    const Graph graph = load(program);
    const Value& x = value(graph, "x");
    CHECK(x.spec->sizes == std::vector<std::int64_t>{6, 5});
    CHECK(x.dimensions.at(0).symbol == "3*s7");
    CHECK(x.dimensions.at(1).symbol.empty());
    CHECK_FALSE(value(graph, "y").spec);
    CHECK(graph.symbol_ranges.at(0).least == 2);
    CHECK_FALSE(graph.symbol_ranges.at(0).most);
  }

  TEST_CASE("parameters have PyTorch's names, frozen ones and buffers are distinguished") {
    Program program = relu_program();
    program.inputs += R"(, {"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "b_m"}})";
    const std::string meta = test::tensor_meta(7, R"({"as_int": 4})", R"({"as_int": 1})");
    program.tensor_values += fmt::format(R"(, "p_w": {}, "b_m": {})", meta, meta);
    program.input_specs += R"(, {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "a.w"}},
        {"buffer": {"arg": {"name": "b_m"}, "buffer_name": "a.m", "persistent": true}})";
    program.output_specs = R"({"buffer_mutation": {"arg": {"name": "y"}, "buffer_name": "a.m"}})";
    const Graph graph = load(program);
    CHECK(value(graph, "a.w").kind == ValueKind::parameter);
    CHECK_FALSE(value(graph, "a.w").requires_grad);
    CHECK(value(graph, "a.m").kind == ValueKind::buffer);
    CHECK(graph.inputs.size() == 1);
    CHECK(graph.outputs.empty());
    const Mutation& mutation = graph.mutations.at(0);
    CHECK(graph.values.at(static_cast<std::size_t>(mutation.target)).name == "a.m");
    CHECK(graph.values.at(static_cast<std::size_t>(mutation.source)).name == "y");
  }

  TEST_CASE("weights of one record share a storage if they have data") {
    const std::string four = R"({"as_int": 4})", one = R"({"as_int": 1})",
                      eight = R"({"as_int": 8})";
    const auto keys = [&](const std::string& sizes_of_b, const std::string& device) {
      Program program = relu_program();
      program.inputs += R"(, {"as_tensor": {"name": "a"}}, {"as_tensor": {"name": "b"}})";
      program.input_specs += R"(, {"parameter": {"arg": {"name": "a"}, "parameter_name": "a"}},
          {"parameter": {"arg": {"name": "b"}, "parameter_name": "b"}})";
      program.weights = fmt::format(R"("a": {}, "b": {})", payload("weight_0", four, one, device),
                                    payload("weight_0", sizes_of_b, one, device));
      const Graph graph = load(program);
      return std::pair{value(graph, "a").storage_key, value(graph, "b").storage_key};
    };
    const auto [a, b] = keys(four, "cpu");
    CHECK_FALSE(a.empty());
    CHECK(a == b);
    CHECK(keys(eight, "cpu").first.empty());
    CHECK(keys(four, "meta").first.empty());
  }

  TEST_CASE("a small constant is read row by row, whatever its strides") {
    Program program = relu_program();
    program.inputs += R"(, {"as_tensor": {"name": "c"}})";
    program.input_specs +=
        R"(, {"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "c"}})";
    program.constants =
        R"("c": {"path_name": "tensor_0", "is_param": false, "use_pickle": false, "tensor_meta": )" +
        test::tensor_meta(4, R"({"as_int": 2}, {"as_int": 3})", R"({"as_int": 1}, {"as_int": 2})") +
        "}";
    const std::int32_t stored[] = {0, 3, 1, 4, 2, 5};
    program.payloads = {{"data/constants/tensor_0",
                         std::string(reinterpret_cast<const char*>(stored), sizeof stored)}};
    const Graph graph = load(program);
    const Value& constant = value(graph, "c");
    REQUIRE(constant.constant);
    std::int32_t read[6];
    REQUIRE(constant.constant->data.size() == sizeof read);
    std::memcpy(read, constant.constant->data.data(), sizeof read);
    for (int i = 0; i < 6; ++i) CHECK(read[i] == i);
    program.payloads.clear();
    CHECK_FALSE(value(load(program), "c").constant);
  }

  TEST_CASE("ViT-B/16 as PyTorch exports it") {
    const Graph graph = load_model("vit_b_16.pt2");
    std::int64_t parameters = 0;
    for (const Value& parameter : graph.values)
      if (parameter.kind == ValueKind::parameter) parameters += parameter.spec->numel();
    const std::int64_t width = 768, mlp = 3072, tokens = 14 * 14 + 1, classes = 1000;
    const std::int64_t attention = 4 * (width * width + width);
    const std::int64_t layer = attention + 2 * width * mlp + mlp + width + 2 * 2 * width;
    CHECK(parameters == 12 * layer + 3 * 16 * 16 * width + width + width + tokens * width +
                            2 * width + width * classes + classes);
    CHECK(value(graph, "x").spec->sizes == std::vector<std::int64_t>{8, 3, 224, 224});
    bool has_mlp = false;
    for (const Scope& scope : graph.scopes)
      has_mlp |= scope.path == "encoder.layers.encoder_layer_11.mlp";
    CHECK(has_mlp);
    CHECK(graph.scopes[0].type == "torchvision.models.vision_transformer.VisionTransformer");
  }

  TEST_CASE("tied weights as PyTorch exports them") {
    const Graph graph = load_model("tiny/tied_lm.pt2");
    CHECK_FALSE(value(graph, "embedding.weight").storage_key.empty());
    CHECK(value(graph, "embedding.weight").storage_key == value(graph, "head.weight").storage_key);
  }

  TEST_CASE("one of several programs is chosen by its name after a colon") {
    const std::string json = relu_program().json();
    const std::string empty = R"({"config": {}})";
    const test::TemporaryFile file(
        "several.pt2", test::stored_zip({{"m/data/weights/prefill_weights_config.json", empty},
                                         {"m/data/weights/decode_weights_config.json", empty},
                                         {"m/models/prefill.json", json},
                                         {"m/models/decode.json", json},
                                         {"m/archive_format", "pt2"}}));
    const Graph graph = trace::load(file.path() + ":decode");
    CHECK(graph.nodes.size() == 1);
    CHECK(graph.path == file.path() + ":decode");
    const std::string several = refusal_of(file.path());
    CHECK(several.find("has several models: ") != several.npos);
    CHECK(several.find("Choose one: " + file.path() + ":") != several.npos);
    const std::string unknown = refusal_of(file.path() + ":other");
    CHECK(unknown.find("has no model called 'other'") != unknown.npos);
    CHECK(unknown.find("decode") != unknown.npos);
  }

  TEST_CASE("a package of AOTInductor is named, with what to profile instead") {
    const test::TemporaryFile file("aoti.pt2",
                                   test::stored_zip({{"m/data/aotinductor/model/model.so", "code"},
                                                     {"m/archive_format", "pt2"}}));
    const std::string message = refusal_of(file.path());
    CHECK(message.find("AOTInductor") != message.npos);
    CHECK(message.find("torch.export.save") != message.npos);
  }
}
