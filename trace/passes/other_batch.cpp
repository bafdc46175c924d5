#include "trace/passes/other_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/setting.h"
#include "trace/graph/named_sizes.h"

namespace symprof::trace {
namespace {

constexpr auto batch_name = "batch";

/// True if the batch is a dimension of the input.
bool has_batch(const Value& input) { return input.spec && !input.dimensions.empty(); }

/// The data of a constant that replaces a tensor of sizes.
template <class Number>
std::vector<std::byte> bytes_of(const std::vector<std::int64_t>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(Number));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<Number>(numbers[i]);
    std::memcpy(bytes.data() + i * sizeof(Number), &number, sizeof(Number));
  }
  return bytes;
}

std::vector<std::byte> bytes_of(DType dtype, const std::vector<std::int64_t>& numbers) {
  switch (dtype) {
    case DType::int32:
      return bytes_of<std::int32_t>(numbers);
    case DType::float32:
      return bytes_of<float>(numbers);
    case DType::float64:
      return bytes_of<double>(numbers);
    default:
      return bytes_of<std::int64_t>(numbers);
  }
}

ValueId add_constant(Graph& graph, const Node& node, const TensorSpec& spec,
                     const std::vector<std::int64_t>& numbers) {
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = spec;
  constant->data = bytes_of(spec.dtype, numbers);
  return graph.add_value({.name = node.name + "_batch",
                          .kind = ValueKind::constant,
                          .spec = spec,
                          .constant = std::move(constant)});
}

void set_sizes(Graph& graph, const BatchedArgument& batched, std::int64_t batch) {
  Node& node = graph.nodes.at(batched.node);
  std::vector<std::int64_t> sizes;
  for (const BatchSize& size : batched.sizes) sizes.push_back(size_at(size, batch));
  ArgumentValue& value = node.arguments.at(batched.argument).value;
  if (batched.tensor) {
    value = ValueRef{add_constant(graph, node, *batched.tensor, sizes)};
  } else if (auto* number = std::get_if<std::int64_t>(&value)) {
    *number = sizes.at(0);
  } else if (auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    *list = sizes;
  } else if (auto* mixed = std::get_if<std::vector<ListElement>>(&value)) {
    for (std::size_t i = 0; i < mixed->size(); ++i)
      if (std::holds_alternative<std::int64_t>((*mixed)[i])) (*mixed)[i] = sizes.at(i);
  }
}

}  // namespace

std::int64_t size_at(const BatchSize& size, std::int64_t batch) {
  std::int64_t result = size.factor;
  bool overflows = false;
  for (int i = 0; i < size.power; ++i)
    overflows = overflows || __builtin_mul_overflow(result, batch, &result);
  overflows = overflows || __builtin_add_overflow(result, size.rest, &result);
  if (!overflows) return result;
  throw Error(SettingRef{"sizes", fmt::format("{}={}", batch_name, batch)},
              "a size of the model does not fit into 64 bits", "Give a smaller one.");
}

std::optional<std::int64_t> fixed_batch(const Graph& graph) {
  if (resolved_name(graph, batch_name) != batch_name) return std::nullopt;
  std::optional<std::int64_t> batch;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    for (std::size_t i = 0; i < input.dimensions.size(); ++i)
      if (is_called(input, i, batch_name)) return std::nullopt;
    if (!has_batch(input)) continue;
    const Dimension& first = input.dimensions.front();
    if (!first.symbol.empty() || first.size < 1 || (batch && *batch != first.size))
      return std::nullopt;
    batch = first.size;
  }
  return batch;
}

void set_batch(Graph& graph, const BatchPlan& plan, std::int64_t batch) {
  for (const BatchedArgument& batched : plan.arguments) set_sizes(graph, batched, batch);
  for (const ValueId id : graph.inputs) {
    Value& input = graph.value(id);
    if (!has_batch(input)) continue;
    input.dimensions.front() = {plan.batch, batch_name};
  }
  graph.warnings.insert(graph.warnings.end(), plan.warnings.begin(), plan.warnings.end());
  if (batch == plan.batch) return;
  for (Value& value : graph.values)
    if (value.kind == ValueKind::result) value.spec.reset(), value.recorded_sizes.reset();
}

std::string open_batch_advice(const Graph& graph) {
  if (graph.traits.export_call.empty())
    return "Trace the model again with code that reads the batch from its inputs (x.shape[0]), or "
           "script it with torch.jit.script.";
  std::string shapes;
  for (const ValueId id : graph.inputs)
    if (const Value& input = graph.value(id); has_batch(input))
      shapes += fmt::format("{}\"{}\": {{0: torch.export.Dim(\"batch\")}}",
                            shapes.empty() ? "" : ", ", input.name);
  return fmt::format("Export it with an open batch: {}dynamic_shapes={{{}}}){}.",
                     graph.traits.export_call, shapes,
                     fixed_batch(graph) == 1 ? ", from an example of two or more samples" : "");
}

Error fixed_batch_error(const Graph& graph, std::int64_t wanted, const Error& error) {
  return {
      SettingRef{"sizes", fmt::format("{}={}", batch_name, wanted)},
      fmt::format("the file fixes its batch at {}, and not all of it can be run with another: {}",
                  fixed_batch(graph).value_or(0), error.summary(unspelled)),
      open_batch_advice(graph)};
}

}  // namespace symprof::trace
