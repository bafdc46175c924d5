#include "trace/python/dtypes/recorded_dtypes.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <tuple>
#include <utility>

#include "trace/exported/reader.h"
#include "trace/onnx/reader.h"
#include "trace/passes/onnx_dtype.h"
#include "trace/passes/training_mode.h"
#include "trace/python/dtypes/autocast_casts.h"

namespace {

using namespace symprof;
using namespace symprof::trace;

Value tensor(const std::string& name, ValueKind kind, DType dtype = DType::float32) {
  return {.name = name, .kind = kind, .spec = TensorSpec{.dtype = dtype}};
}

/// An export in float32: an input, a parameter, a buffer of integers, and nodes on lines of one
/// function.
struct Export {
  Graph graph;
  ValueId x, weight, count;

  Export()
      : x(graph.add_value(tensor("x", ValueKind::input))),
        weight(graph.add_value(tensor("weight", ValueKind::parameter))),
        count(graph.add_value(tensor("count", ValueKind::buffer, DType::int64))) {
    graph.traits = trace::exported_traits;
    graph.inputs = {x};
    graph.scopes.push_back({"norm", "Norm", 0});
  }

  ValueId add(const std::string& op, const std::string& overload, const std::string& line,
              std::vector<Argument> arguments) {
    const ValueId made = graph.add_value(
        {.name = fmt::format("v{}", graph.values.size()), .recorded_dtype = DType::float32});
    SourceId source = no_source;
    if (!line.empty()) {
      source = static_cast<SourceId>(graph.source_lines.size());
      graph.source_lines.push_back(
          {.file = "norm.py", .function = "forward", .line = source, .text = line});
    }
    graph.nodes.push_back({.name = graph.value(made).name,
                           .op = op,
                           .overload = overload,
                           .arguments = std::move(arguments),
                           .outputs = {made},
                           .scope = 1,
                           .source = source});
    return made;
  }

  ValueId cast(ValueId from, const std::string& line, const std::string& overload = "dtype") {
    return add("aten::to", overload, line, {{"self", ValueRef{from}}, {"dtype", DType::float32}});
  }

  ValueId make(const std::string& op, const std::string& line = "") {
    return add(op, "default", line,
               {{"size", std::vector<std::int64_t>{2}}, {"dtype", DType::float32}});
  }

  const Argument& dtype_of(std::size_t node) const { return graph.nodes[node].arguments[1]; }
};

bool has(const Argument& argument, DType dtype) {
  const auto* found = std::get_if<DType>(&argument.value);
  return found != nullptr && *found == dtype;
}

/// Whether the node's dtype is bfloat16 after a cast to that.
bool follows(const Export& model, std::size_t node) {
  const bool does = has(model.dtype_of(node), DType::bfloat16);
  CHECK(does != has(model.dtype_of(node), DType::float32));
  return does;
}

}  // namespace

TEST_SUITE("recorded_dtypes") {
  TEST_CASE("the line of a cast tells whether it follows the model's dtype") {
    Export model;
    model.cast(model.x, "h = x.to(torch.float32)");
    model.cast(model.x, "return self.weight * h.to(input_dtype)");
    model.cast(model.count, "c = self.count.to(x.dtype)");
    model.cast(model.count, "c = self.count.float()");
    cast_floating_point(model.graph, DType::bfloat16);
    CHECK_FALSE(follows(model, 0));
    CHECK(follows(model, 1));
    CHECK(follows(model, 2));
    CHECK_FALSE(follows(model, 3));
    CHECK(model.graph.guessed_dtypes.empty());
    CHECK(model.graph.cast_to == DType::bfloat16);
  }

  TEST_CASE("two casts of a line are told apart by their order") {
    Export model;
    const std::string line = "y = self.norm(x.float()).to(x.dtype)";
    const ValueId up = model.cast(model.x, line);
    model.cast(up, "");
    model.graph.nodes[1].source = model.graph.nodes[0].source;
    cast_floating_point(model.graph, DType::bfloat16);
    CHECK_FALSE(follows(model, 0));
    CHECK(follows(model, 1));
  }

  TEST_CASE("casts of a helper function are guessed: no-op casts take the new dtype") {
    Export model;
    for (const ValueId from : {model.x, model.x, model.count})
      model.cast(from, "q = rotate(q, table.float())");
    for (Node& node : model.graph.nodes) node.source = 0;
    cast_floating_point(model.graph, DType::bfloat16);
    CHECK(follows(model, 0));
    CHECK(follows(model, 1));
    CHECK_FALSE(follows(model, 2));
    CHECK(model.graph.guessed_dtypes.size() == 3);
  }

  TEST_CASE("a cast that joins an upcast branch before the cast back stays") {
    Export model;
    const std::string line = "y = self.mix(x)";
    const ValueId wide = model.cast(model.x, line), weight = model.cast(model.weight, line);
    const ValueId scale = model.add("aten::neg", "default", line, {{"self", ValueRef{weight}}});
    const ValueId mixed = model.add("aten::matmul", "default", line,
                                    {{"self", ValueRef{wide}}, {"other", ValueRef{scale}}});
    const ValueId back = model.cast(mixed, line), after = model.cast(model.weight, line);
    model.graph.outputs = {model.add("aten::mul", "Tensor", line,
                                     {{"self", ValueRef{back}}, {"other", ValueRef{after}}})};
    for (Node& node : model.graph.nodes) node.source = 0;
    cast_floating_point(model.graph, DType::bfloat16);
    CHECK_FALSE(follows(model, 0));
    CHECK_FALSE(follows(model, 1));
    CHECK(follows(model, 4));
    CHECK(follows(model, 5));
  }

  TEST_CASE("a cast before a loss stays in float32 if no line is known") {
    for (const auto& [op, between, is_loss] :
         {std::tuple{"aten::cross_entropy_loss", "", true},
          std::tuple{"aten::nll_loss", "aten::view", true},
          std::tuple{"aten::mse_loss", "aten::transpose", true},
          std::tuple{"aten::mse_loss", "aten::relu", false},  // Its dtype is the model's own.
          std::tuple{"aten::abs", "aten::view", false}}) {
      CAPTURE(op);
      CAPTURE(between);
      Export model;
      const std::string line = "loss = self.loss_function(logits, labels)";
      const ValueId cast = model.cast(model.x, line);
      ValueId scores = cast;
      if (*between != '\0')
        scores = model.add(between, "default", line, {{"self", ValueRef{cast}}});
      const ValueId loss = model.add(
          op, "default", line, {{"self", ValueRef{scores}}, {"target", ValueRef{model.count}}});
      model.graph.outputs = {loss, cast};
      cast_floating_point(model.graph, DType::bfloat16);
      CHECK(follows(model, 0) == !is_loss);
      CHECK(model.graph.guessed_dtypes.size() == 1);
      // The model returns what it gave to the loss, which is in its own dtype.
      CHECK(model.graph.outputs == std::vector{loss, is_loss ? model.x : cast});
    }
  }

  TEST_CASE("the target of a loss may take the dtype of its prediction") {
    Export model;
    const std::string line = "loss = self.loss_function(logits, labels)";
    const ValueId target = model.cast(model.x, line);
    model.add("aten::mse_loss", "default", line,
              {{"self", ValueRef{model.weight}}, {"target", ValueRef{target}}});
    cast_floating_point(model.graph, DType::bfloat16);
    CHECK(follows(model, 0));
  }

  TEST_CASE("a device move keeps the dtype, and a call's dtype argument is its own") {
    Export model;
    const ValueId table = model.graph.add_value(tensor("table", ValueKind::constant));
    model.cast(table, "t = table.to(x.device)", "dtype_layout");
    model.add("aten::softmax", "int", "a = helper(a)",
              {{"self", ValueRef{model.x}}, {"dtype", DType::float32}});
    model.add("aten::softmax", "int", "a = a.softmax(-1, dtype=x.dtype)",
              {{"self", ValueRef{model.x}}, {"dtype", DType::float32}});
    cast_floating_point(model.graph, DType::bfloat16);
    CHECK(std::holds_alternative<NoArgument>(model.dtype_of(0).value));
    CHECK_FALSE(follows(model, 1));
    CHECK(follows(model, 2));
  }

  TEST_CASE("a dtype that torch.nn.functional forwards is written at the caller's line") {
    for (const auto& [text, is_handed] :
         {std::pair{"a = F.softmax(a, dtype=torch.float32, dim=-1)", false},
          std::pair{"a = F.softmax(a, dim=-1, dtype=x.dtype)", true}}) {
      CAPTURE(text);
      Export model;
      model.add("aten::softmax", "int", text,
                {{"self", ValueRef{model.x}}, {"dtype", DType::float32}});
      model.graph.source_lines.push_back({.file = "torch/nn/functional.py",
                                          .function = "softmax",
                                          .line = 2209,
                                          .text = "ret = input.softmax(dim, dtype=dtype)",
                                          .caller = 0});
      model.graph.nodes[0].source = 1;
      cast_floating_point(model.graph, DType::bfloat16);
      CHECK(follows(model, 0) == is_handed);
    }
  }

  TEST_CASE("new tensors that are sequences of numbers keep their dtype if no line is known") {
    Export model;
    model.make("aten::zeros");
    model.make("aten::arange");
    model.make("aten::arange", "t = torch.arange(n, dtype=x.dtype)");
    model.make("aten::zeros", "z = torch.zeros(n, dtype=torch.float32)");
    cast_floating_point(model.graph, DType::bfloat16);
    CHECK(follows(model, 0));
    CHECK_FALSE(follows(model, 1));
    CHECK(follows(model, 2));
    CHECK_FALSE(follows(model, 3));
    CHECK(model.graph.guessed_dtypes.size() == 2);
  }

  TEST_CASE("a model in bfloat16 comes back to its own dtype from float32") {
    Export model;
    for (const ValueId id : {model.x, model.weight})
      model.graph.value(id).spec->dtype = DType::bfloat16;
    const ValueId up = model.cast(model.x, "helper(x)");
    const ValueId back = model.cast(up, "helper(x)");
    model.graph.nodes[1].arguments[1].value = DType::bfloat16;
    model.graph.value(back).recorded_dtype = DType::bfloat16;
    cast_floating_point(model.graph, DType::float16);
    CHECK(has(model.dtype_of(0), DType::float32));
    CHECK(has(model.dtype_of(1), DType::float16));
  }

  TEST_CASE("readers after a no-op cast read the tensor before it") {
    Export model;
    const ValueId cast = model.cast(model.x, "h = x.float()");
    const auto read = [&](const std::string& line, ValueId other) {
      return model.add("aten::mul", "Tensor", line,
                       {{"self", ValueRef{cast}}, {"other", ValueRef{other}}});
    };
    read("h = h * h", cast);
    read("y = x + z", model.weight);
    read("y = x + h", model.weight);
    const auto reads = [&](std::size_t node) {
      return std::get<ValueRef>(model.graph.nodes[node].arguments[0].value).id;
    };
    cast_floating_point(model.graph, DType::bfloat16);
    CHECK(reads(1) == cast);
    CHECK(reads(2) == model.x);
    CHECK(reads(3) == cast);
  }

  TEST_CASE("a residual is the module's argument, not its cast") {
    Export model;
    model.graph.source_lines = {
        {.file = "block.py", .function = "forward", .line = 1, .text = "x = x + self.norm(x)"},
        {.file = "norm.py",
         .function = "forward",
         .line = 1,
         .text = "return self._norm(x.float()).type_as(x)",
         .caller = 0}};
    const ValueId cast = model.cast(model.x, "");
    const ValueId norm = model.add("aten::abs", "default", "", {{"self", ValueRef{cast}}});
    const ValueId back = model.add("aten::type_as", "default", "",
                                   {{"self", ValueRef{norm}}, {"other", ValueRef{cast}}});
    model.add("aten::add", "Tensor", "", {{"self", ValueRef{cast}}, {"other", ValueRef{back}}});
    for (std::size_t i = 0; i < 3; ++i) model.graph.nodes[i].source = 1;
    model.graph.nodes[3].source = 0;
    model.graph.nodes[3].scope = 0;
    cast_floating_point(model.graph, DType::bfloat16);
    const auto read = [&](std::size_t node, std::size_t argument) {
      return std::get<ValueRef>(model.graph.nodes[node].arguments[argument].value).id;
    };
    CHECK(has(model.dtype_of(0), DType::float32));
    CHECK(read(1, 0) == cast);
    CHECK(read(2, 0) == norm);
    CHECK(read(2, 1) == model.x);
    CHECK(read(3, 0) == model.x);
  }

  TEST_CASE("under autocast a cast takes the dtype of the tensor that the line names") {
    Export model;
    const ValueId q =
        model.add("aten::relu", "default", "q = self.q(x)", {{"self", ValueRef{model.x}}});
    const ValueId a = model.add("aten::relu", "default", "a = relu(q)", {{"self", ValueRef{q}}});
    model.cast(a, "a = a.to(q.dtype)");
    model.cast(a, "a = a.to(orig_type)");
    model.cast(a, "a = a.float()");
    model.cast(a, "a = a.to(self.weight.dtype)");
    follow_autocast(model.graph);
    const auto like = [&](std::size_t node) {
      const Node& cast = model.graph.nodes[node];
      return cast.op == "aten::type_as" ? std::get<ValueRef>(cast.arguments.at(1).value).id
                                        : no_value;
    };
    CHECK(like(2) == q);
    CHECK(like(3) == model.x);
    CHECK(like(4) == no_value);
    CHECK(like(5) == no_value);
  }
}

TEST_SUITE("onnx_dtype") {
  TEST_CASE("one type takes another's place wherever the graph has it") {
    Graph graph;
    graph.traits = trace::onnx_traits;
    graph.add_value({.name = "w",
                     .kind = ValueKind::parameter,
                     .spec = TensorSpec{.dtype = DType::float32, .sizes = {8}}});
    graph.add_value(tensor("scale", ValueKind::parameter, DType::float64));
    graph.nodes = {{.name = "a", .op = "onnx::Cast", .arguments = {{"to", std::int64_t{1}}}},
                   {.name = "b", .op = "onnx::Cast", .arguments = {{"to", std::int64_t{11}}}},
                   {.name = "c", .op = "onnx::Cast", .arguments = {{"to", std::string("FLOAT")}}},
                   {.name = "d", .op = "onnx::RandomNormal"},
                   {.name = "e", .op = "onnx::ConstantOfShape"}};
    CHECK(onnx_model_dtype(graph) == DType::float32);
    cast_floating_point(graph, DType::bfloat16);
    CHECK(graph.values[0].spec->dtype == DType::bfloat16);
    CHECK(graph.values[1].spec->dtype == DType::float64);
    const auto attribute = [&](std::size_t node) {
      return graph.nodes[node].arguments.at(0).value;
    };
    CHECK(std::get<std::int64_t>(attribute(0)) == 16);
    CHECK(std::get<std::int64_t>(attribute(1)) == 11);
    CHECK(parse_dtype(std::get<std::string>(attribute(2))) == DType::bfloat16);
    CHECK(std::get<std::int64_t>(attribute(3)) == 16);
    CHECK(std::get<std::shared_ptr<const ConstantTensor>>(attribute(4))->spec.dtype ==
          DType::bfloat16);
  }
}
