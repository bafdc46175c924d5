#include "workbench/tensor_stats.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
#include "trace/onnx/attributes.h"
#include "trace/onnx/external.h"
#include "trace/onnx/tensors.h"
#include "workbench/constants.h"
#include "workbench/nodes.h"

namespace symprof::workbench {
namespace {

/// Tensors with fewer numbers get no distribution.
constexpr std::size_t least_numbers = 8;

/// The bounds of tensor_statistics in onnx_diagnostic/helpers/onnx_helper.py.
constexpr double bounds[] = {0, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5,
                             1, 1.96,  10,   1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e10};

std::vector<double> numbers_of(const ConstantTensor& tensor) {
  const DType dtype = tensor.spec.dtype;
  if (is_floating_point(dtype)) return reals_of(tensor);
  const std::vector<std::int64_t> whole = integers_of(tensor);
  return {whole.begin(), whole.end()};
}

/// `sorted` is not empty.
double quantile(const std::vector<double>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

void add_distribution(TensorStats& stats, std::vector<double>& numbers) {
  if (numbers.size() < least_numbers) return;
  stats.above.reserve(std::size(bounds));
  for (const double bound : bounds)
    stats.above.emplace_back(bound, std::ranges::count_if(numbers, [&](double number) {
                               return std::abs(number) > bound;
                             }));
  std::ranges::sort(numbers);
  stats.deciles.reserve(9);
  for (int tenth = 1; tenth < 10; ++tenth) stats.deciles.push_back(quantile(numbers, tenth / 10.0));
}

void add_numbers(TensorStats& stats, std::vector<double> numbers) {
  const auto count = numbers.size();
  std::erase_if(numbers, [](double number) { return std::isnan(number); });
  stats.nans = static_cast<std::int64_t>(count - numbers.size());
  if (numbers.empty()) return;
  const auto size = static_cast<double>(numbers.size());
  double sum = 0, squares = 0;
  for (const double number : numbers) sum += number;
  stats.mean = sum / size;
  for (const double number : numbers) squares += (number - *stats.mean) * (number - *stats.mean);
  stats.deviation = std::sqrt(squares / size);
  const auto [least, greatest] = std::ranges::minmax(numbers);
  stats.least = least;
  stats.greatest = greatest;
  add_distribution(stats, numbers);
}

class Collector {
 public:
  explicit Collector(std::string path) : path_(std::move(path)) {}

  void add_graph(const onnx::GraphProto& graph) {
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      if (!trace::onnx_dtype(tensor.data_type())) continue;
      const bool is_external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
      add(tensor.name(), is_external ? trace::external_tensor(tensor, path_)
                                     : trace::constant_tensor(tensor, where(tensor.name())));
    }
    for (const onnx::NodeProto& node : graph.node())
      for (const onnx::AttributeProto& attribute : node.attribute())
        if (attribute.has_g()) add_graph(attribute.g());
  }

  void add_constants(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                     const std::string& function) {
    function_ = function;
    for_all_nodes(nodes, [&](const onnx::NodeProto& node) {
      if (!is_constant(node) || node.attribute_size() != 1 || node.output_size() == 0) return;
      const onnx::AttributeProto& attribute = node.attribute(0);
      if (!attribute.ref_attr_name().empty() || attribute.has_sparse_tensor() ||
          (attribute.has_t() && !trace::onnx_dtype(attribute.t().data_type())))
        return;
      add(node.output(0),
          trace::constant_attribute(attribute, attribute.name(), where(node.output(0))));
    });
  }

  std::vector<TensorStats> take() { return std::move(found_); }

 private:
  std::string where(const std::string& name) const { return path_ + ": " + name; }

  void add(const std::string& name, const ConstantPointer& tensor) {
    if (!tensor) return;  // Text.
    TensorStats stats{.name = name, .function = function_};
    stats.type = trace::onnx_element_type(tensor->spec.dtype);
    stats.sizes = tensor->spec.sizes;
    stats.elements = tensor->spec.numel();
    stats.bytes = tensor->spec.bytes();
    if (std::vector<double> numbers = numbers_of(*tensor); std::ssize(numbers) == stats.elements)
      add_numbers(stats, std::move(numbers));
    found_.push_back(std::move(stats));
  }

  std::string path_, function_;
  std::vector<TensorStats> found_;
};

}  // namespace

std::vector<TensorStats> tensor_stats(const onnx::ModelProto& model, const std::string& path) {
  Collector collector(path);
  collector.add_graph(model.graph());
  for (const onnx::FunctionProto& function : model.functions())
    collector.add_constants(function.node(), function.name());
  collector.add_constants(model.graph().node(), "");
  return collector.take();
}

}  // namespace symprof::workbench
