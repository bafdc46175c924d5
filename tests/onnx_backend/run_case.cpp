#include "run_case.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "shape/interpreter/interpreter.h"
#include "shape/lowering/narrow.h"
#include "shape/lowering/real_tensor.h"
#include "trace/onnx/reader.h"

namespace symprof::testing {
namespace {

using c10::IValue;
using Values = std::vector<IValue>;

class Silent : public shape::NodeObserver {
 public:
  void begin_node(std::size_t) override {}
  void end_node(std::size_t) override {}
};

/// Keeps nothing: only the answers of fake tensors matter here, not who makes and frees them.
class NoRecord : public meta::Observer {
 public:
  std::int32_t on_allocate(std::int64_t, meta::Place) override { return next_++; }
  void on_free(std::int32_t) noexcept override {}
  std::int32_t on_spec(TensorSpec) override { return next_++; }
  void on_call_begin(const c10::OperatorHandle&) override {}
  void on_call(const meta::SeenCall&) override {}
  void on_saved(std::int32_t) override {}

 private:
  std::int32_t next_ = 0;
};

std::string describe(const at::Tensor& tensor) {
  return to_string(meta::spec_of(tensor)).substr(0, 200);
}

/// Dropout that is told its mode.
bool drops_at_random(const Node& node) {
  return node.op == "onnx::Dropout" && node.arguments.size() > 2;
}

/// Operators whose values are random: only dtypes and shapes are compared, as onnx does.
bool is_random(const Graph& graph) {
  for (const Node& node : graph.nodes)
    if (node.op.starts_with("onnx::Random") || node.op == "onnx::Bernoulli" ||
        node.op == "onnx::Multinomial" || drops_at_random(node))
      return true;
  return false;
}

/// The case's tolerance, or two units in the last place of a dtype of two bytes, which onnx's own
/// runner allows bfloat16 (onnx/backend/test/runner). (Absolute: at least 1e-6, what float32 leaves
/// of a zero.)
double relative_tolerance(const at::Tensor& wanted, const BackendCase& test) {
  if (wanted.scalar_type() == at::kBFloat16) return std::max(test.rtol, 0x1p-6);
  if (wanted.scalar_type() == at::kHalf) return std::max(test.rtol, 0x1p-9);
  return test.rtol;
}

/// Empty when `got` has the dtype and sizes of `wanted`, and (`compare` set) its values.
std::string difference(const at::Tensor& got, const at::Tensor& wanted,
                       const BackendCase* compare) {
  if (got.scalar_type() != wanted.scalar_type() || got.sizes() != wanted.sizes())
    return fmt::format("{} instead of {}", describe(got), describe(wanted));
  if (compare == nullptr) return "";
  const auto wide = at::isComplexType(got.scalar_type()) ? at::kComplexDouble : at::kDouble;
  const at::Tensor a = lowering::to_type(got, wide), b = lowering::to_type(wanted, wide);
  if (at::allclose(a, b, relative_tolerance(wanted, *compare), std::max(compare->atol, 1e-6),
                   /*equal_nan=*/true))
    return "";
  const at::Tensor gap = at::abs(a - b);
  return fmt::format("values differ by up to {:.3g}", at::nan_to_num(gap).max().item<double>());
}

std::string difference(const IValue& got, const IValue& wanted, const BackendCase* compare) {
  if (wanted.isNone() || got.isNone())
    return wanted.isNone() == got.isNone() ? "" : "one is an empty optional, the other not";
  if (got.isTensor() && wanted.isTensor())
    return difference(got.toTensor(), wanted.toTensor(), compare);
  if (!got.isTensorList() || !wanted.isTensorList()) return "one is a sequence, the other a tensor";
  const auto a = got.toTensorVector(), b = wanted.toTensorVector();
  if (a.size() != b.size()) return fmt::format("{} elements instead of {}", a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    if (auto text = difference(a[i], b[i], compare); !text.empty()) return text;
  return "";
}

std::string difference(const Values& got, const Values& wanted, const BackendCase* compare) {
  if (got.size() < wanted.size())
    return fmt::format("{} outputs instead of {}", got.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (auto text = difference(got[i], wanted[i], compare); !text.empty())
      return fmt::format("output {}: {}", i, text);
  return "";
}

Values run(const Graph& graph, const Values& inputs, c10::Device device,
           IValue (*leaf)(const Value&)) {
  at::NoGradGuard no_grad;
  shape::Interpreter interpreter(graph, device);
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    const Value& value = graph.values[id];
    if (value.kind != ValueKind::result && value.kind != ValueKind::input)
      interpreter.set(static_cast<ValueId>(id), leaf(value));
  }
  if (graph.inputs.size() < inputs.size())
    throw Error("case",
                fmt::format("{} inputs for a graph of {}", inputs.size(), graph.inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (graph.values[static_cast<std::size_t>(graph.inputs[i])].kind == ValueKind::input)
      interpreter.set(graph.inputs[i], inputs[i]);
  Silent observer;
  interpreter.run(observer);
  Values outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(interpreter.get(id));
  return outputs;
}

IValue real_leaf(const Value& value) {
  if (!value.constant) throw Error("", value.name + " is a weight without data");
  return lowering::real_tensor(*value.constant);
}

/// `graph` with the data of its weights, which the reader leaves in the file.
Graph with_weights(const Graph& graph, const BackendCase& test) {
  Graph changed = graph;
  for (Value& value : changed.values) {
    if (value.kind == ValueKind::result || value.kind == ValueKind::input || value.constant)
      continue;
    if (const auto weight = test.weights.find(value.name); weight != test.weights.end())
      value.constant = weight->second;
  }
  return changed;
}

/// As shape::propagate places constants: integers and scalars are real, the rest is fake.
IValue fake_leaf(const Value& value) {
  if (value.constant &&
      (!is_floating_point(value.constant->spec.dtype) || value.constant->spec.sizes.empty()))
    return lowering::real_tensor(*value.constant);
  return meta::make_fake(*value.spec);
}

IValue fake_value(const IValue& value) {
  if (value.isTensor()) return meta::make_fake(meta::spec_of(value.toTensor()));
  if (!value.isTensorList()) return value;
  c10::List<at::Tensor> list;
  for (const at::Tensor& tensor : value.toTensorVector())
    list.push_back(meta::make_fake(meta::spec_of(tensor)));
  return list;
}

Values run_fake(const Graph& graph, const Values& inputs) {
  const meta::FakeMode mode({}, std::make_shared<NoRecord>());
  Values fakes;
  for (const IValue& input : inputs) fakes.push_back(fake_value(input));
  return run(graph, fakes, {c10::kCUDA, 0}, fake_leaf);
}

/// Inputs that the model would have as constants: all tensors but the first.
Graph with_constants(const Graph& graph, const BackendCase& test, std::size_t first) {
  Graph changed = graph;
  for (std::size_t i = first; i < test.inputs.size(); ++i) {
    if (test.inputs[i].kind != CaseValue::Kind::tensor) continue;
    Value& value = changed.values[static_cast<std::size_t>(changed.inputs[i])];
    value.kind = ValueKind::constant;
    value.constant = test.inputs[i].tensors.front();
    value.spec = value.constant->spec;
  }
  return changed;
}

bool depends_on_data(const std::string& reason) {
  return reason.find("data-dependent") != reason.npos;
}

void try_fake(const Graph& graph, const BackendCase& test, const Values& inputs, const Values& real,
              CaseResult& result) {
  std::string reason;
  for (const std::size_t first : {test.inputs.size(), std::size_t{1}, std::size_t{0}}) {
    try {
      reason = difference(run_fake(with_constants(graph, test, first), inputs), real, nullptr);
      if (!reason.empty()) break;
      result.fake = first == test.inputs.size() ? FakeResult::same : FakeResult::with_values;
      return;
    } catch (const Error& error) {
      reason = error.problem();
      if (!depends_on_data(reason)) break;
    }
  }
  result.fake = depends_on_data(reason) ? FakeResult::data : FakeResult::failed;
  if (result.fake == FakeResult::failed) result.reason = "on fake tensors: " + reason;
}

}  // namespace

CaseResult run_case(const BackendCase& test) {
  CaseResult result;
  if (!test.unreadable.empty()) return {.reason = test.unreadable};
  try {
    const Graph graph = trace::read_onnx(test.model, test.name);
    Values inputs, wanted;
    for (const CaseValue& value : test.inputs) inputs.push_back(real_value(value));
    for (const CaseValue& value : test.outputs) wanted.push_back(real_value(value));
    const Values real = run(with_weights(graph, test), inputs, c10::kCPU, real_leaf);
    result.reason = difference(real, wanted, is_random(graph) ? nullptr : &test);
    result.values_pass = result.reason.empty();
    if (result.values_pass) {
      inputs.clear();  // A lowering may have changed them in place, as running statistics.
      for (const CaseValue& value : test.inputs) inputs.push_back(real_value(value));
      try_fake(graph, test, inputs, real, result);
    }
  } catch (const Error& error) {
    result.reason = error.problem();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    result.reason = "no Error, but: " + text.substr(0, text.find('\n'));
  }
  return result;
}

}  // namespace symprof::testing
