#include "trace/torchscript/inputs.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/known_values.h"
#include "trace/passes/other_batch.h"

namespace symprof::trace::torchscript {
namespace {

const c10::Type& inner_type(const c10::Argument& argument) {
  const c10::Type* type = argument.type().get();
  if (type->kind() == c10::TypeKind::OptionalType)
    type = type->castRaw<c10::OptionalType>()->getElementType().get();
  return *type;
}

class InputDeclarer {
 public:
  InputDeclarer(Graph& graph, const TorchScriptOptions& options)
      : graph_(graph), options_(options) {}

  void declare(const c10::Argument& argument, const c10::IValue* example) {
    const c10::TypeKind kind = inner_type(argument).kind();
    const bool has_default = argument.default_value().has_value();
    if (kind == c10::TypeKind::TensorType) {
      if (example != nullptr && example->isTensor())
        add(example_value(argument.name(), example->toTensor()));
      else if (is_given(argument.name()))
        add(Value{.name = argument.name(), .kind = ValueKind::input});
      else if (!has_default)
        missing_.push_back(argument.name());
    } else if (kind == c10::TypeKind::IntType && (!has_default || is_given(argument.name()))) {
      Value value{.name = argument.name(), .kind = ValueKind::input};
      value.dimensions = {Dimension{}};
      if (example != nullptr && example->isInt()) value.dimensions[0].size = example->toInt();
      add(std::move(value));
    } else if (!has_default) {
      throw Error(fmt::format("{}: input {}", graph_.path, argument.name()),
                  fmt::format("has the type {}", argument.type()->repr_str()),
                  "An input can be a tensor or an integer: wrap the model so that it takes those.");
    }
  }

  void finish() const {
    if (missing_.empty()) return;
    throw Error(
        graph_.path,
        fmt::format("TorchScript does not say what shape its inputs have: {}",
                    fmt::join(missing_, ", ")),
        fmt::format("Give each: {}.", setting("inputs", missing_[0] + "=float32[8,3,224,224]")));
  }

 private:
  void add(Value value) { graph_.inputs.push_back(graph_.add_value(std::move(value))); }

  Value example_value(const std::string& name, const at::Tensor& example) const {
    Value value{.name = name, .kind = ValueKind::input};
    value.spec = meta::spec_of(example);
    value.spec->storage_offset = 0;
    if (options_.dtype && is_floating_point(value.spec->dtype)) value.spec->dtype = *options_.dtype;
    for (std::int64_t size : value.spec->sizes) value.dimensions.push_back({size, {}});
    return value;
  }

  // True if the user gave the input, or the size of a scalar input's only dimension.
  bool is_given(const std::string& name) const {
    return std::ranges::any_of(options_.inputs, [&](const auto& o) { return o.name == name; }) ||
           std::ranges::any_of(options_.bindings,
                               [&](const auto& b) { return b.first == name + ".0"; });
  }

  Graph& graph_;
  const TorchScriptOptions& options_;
  std::vector<std::string> missing_;
};

bool names_batch(const TorchScriptOptions& options) {
  return std::ranges::any_of(options.bindings, [](const auto& b) { return b.first == "batch"; });
}

}  // namespace

void declare_inputs(Graph& graph, const c10::FunctionSchema& forward,
                    const std::vector<c10::IValue>& example, const TorchScriptOptions& options) {
  InputDeclarer declarer(graph, options);
  for (std::size_t i = 1; i < forward.arguments().size(); ++i)
    declarer.declare(forward.arguments()[i], i <= example.size() ? &example[i - 1] : nullptr);
  declarer.finish();
  if (const auto batch = fixed_batch(graph); batch && names_batch(options))
    set_batch(graph, {.batch = *batch, .arguments = {}, .warnings = {}}, *batch);
  bind_inputs(graph, options.inputs, options.bindings);
}

std::vector<c10::IValue> make_arguments(const Graph& graph, const c10::FunctionSchema& forward,
                                        GraphRecorder& recorder) {
  std::vector<c10::IValue> arguments;
  for (std::size_t i = 1; i < forward.arguments().size(); ++i) {
    const c10::Argument& argument = forward.arguments()[i];
    const auto input = std::ranges::find_if(graph.inputs, [&](ValueId id) {
      return graph.values[static_cast<std::size_t>(id)].name == argument.name();
    });
    if (input == graph.inputs.end()) {
      arguments.push_back(argument.default_value().value_or(c10::IValue()));
      continue;
    }
    const Value& value = graph.values[static_cast<std::size_t>(*input)];
    if (value.spec) {
      const at::Tensor tensor = meta::make_fake(*value.spec);
      if (value.constant) meta::give_values(tensor, value.constant->data);
      recorder.bind(tensor, *input);
      arguments.emplace_back(tensor);
    } else {
      arguments.push_back(
          std::visit([](auto number) { return c10::IValue(number); }, value.scalar.value()));
    }
  }
  return arguments;
}

}  // namespace symprof::trace::torchscript
