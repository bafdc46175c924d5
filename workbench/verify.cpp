#include "workbench/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "workbench/constants.h"
#include "workbench/nodes.h"

namespace symprof::workbench {
namespace {

/// Some units in the last place of the coarsest type: what the order of sums changes.
constexpr double tolerance_of_float32 = 1e-5, tolerance_of_float16 = 5e-3,
                 tolerance_of_bfloat16 = 4e-2;

double tolerance_of(std::int32_t type) {
  return type == onnx::TensorProto::BFLOAT16  ? tolerance_of_bfloat16
         : type == onnx::TensorProto::FLOAT16 ? tolerance_of_float16
                                              : tolerance_of_float32;
}

/// That of the coarsest type that some of the model computes in.
double usual_tolerance(const onnx::ModelProto& model) {
  double most = tolerance_of_float32;
  const auto add = [&](std::int32_t type) { most = std::max(most, tolerance_of(type)); };
  for (const onnx::TensorProto& tensor : model.graph().initializer()) add(tensor.data_type());
  for (const auto* list : {&model.graph().input(), &model.graph().output()})
    for (const onnx::ValueInfoProto& value : *list) add(value.type().tensor_type().elem_type());
  for_all_nodes(model.graph().node(), [&](const onnx::NodeProto& node) {
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.name() == "to") add(static_cast<std::int32_t>(attribute.i()));
  });
  return most;
}

/// The largest finite number: a sum of numbers of that size is off by their rounding, also where
/// they cancel.
double magnitude(const std::vector<double>& numbers) {
  double most = 0;
  for (const double number : numbers)
    if (std::isfinite(number)) most = std::max(most, std::fabs(number));
  return most;
}

}  // namespace

OutputDifference output_difference(const std::string& name, const ValueRunner::Tensors& wanted,
                                   const ValueRunner::Tensors& got, double tolerance) {
  OutputDifference out;
  out.name = name;
  if (wanted.size() != got.size())
    out.other = fmt::format("{} tensors instead of {}", got.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size() && out.other.empty(); ++i) {
    const TensorSpec &x = wanted[i]->spec, &y = got[i]->spec;
    if (x.dtype != y.dtype || x.sizes != y.sizes) {
      out.other = fmt::format("{} instead of {}", to_string(y), to_string(x));
      break;
    }
    const std::vector<double> numbers = reals_of(*wanted[i]);
    if (numbers.size() == static_cast<std::size_t>(x.numel()))
      add_numbers(out, numbers, reals_of(*got[i]), tolerance, magnitude(numbers));
    else if (wanted[i]->data != got[i]->data)  // Not numeric: compare bits.
      out.other = "other bits";
  }
  out.is_within &= out.other.empty();
  return out;
}

Verifier::Verifier(const onnx::ModelProto& original, const std::string& path, ValueRunner runner,
                   const VerifyOptions& options)
    : path_(path), runner_(std::move(runner)) {
  tolerance_ = options.tolerance.value_or(usual_tolerance(original));
  for (const onnx::ValueInfoProto& output : original.graph().output())
    names_.push_back(output.name());
  const Runnable start = runnable(original, path);
  inputs_ = random_inputs(start, runner_.bounds(start.graph),
                          {.sizes = options.sizes, .seed = options.seed}, path);
  wanted_ = run(original);
  for (const OutputDifference& difference : compare(original))
    if (!difference.is_within)
      throw Error(path,
                  fmt::format("the values of '{}' differ from run to run, so they cannot be "
                              "compared",
                              difference.name),
                  "Export the model for inference: without dropout and random numbers.");
}

std::vector<ValueRunner::Tensors> Verifier::run(const onnx::ModelProto& model) const {
  Runnable start = runnable(model, path_);
  start.leaves.insert(inputs_.begin(), inputs_.end());
  try {
    return runner_.run(start.graph, start.leaves);
  } catch (const Error& error) {
    throw Error(path_, fmt::format("cannot be run on values: {}", error.summary()),
                "Values are not compared; leave that out, or give other sizes.");
  }
}

std::vector<OutputDifference> Verifier::compare(const onnx::ModelProto& model) const {
  const std::vector<ValueRunner::Tensors> got = run(model);
  std::vector<OutputDifference> differences;
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    differences.push_back(
        output_difference(i < names_.size() ? names_[i] : fmt::format("output {}", i), wanted_[i],
                          i < got.size() ? got[i] : ValueRunner::Tensors(), tolerance_));
  return differences;
}

std::string Verifier::inputs_text() const {
  std::vector<std::string> texts;
  for (const auto& [name, value] : inputs_)
    texts.push_back(fmt::format("{} {}", name, to_string(value->spec)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace symprof::workbench
