// Reductions, arg-reductions and top-k.
#include <algorithm>
#include <limits>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

/// The axes to reduce: an input (since opset 13 or 18) or an attribute. If none are given, all
/// axes, or none if the node says so.
struct Reduced {
  Integers axes;
  bool keep = true;
  bool nothing = false;
};

Reduced reduced_axes(const OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  Reduced reduced{axes_of(call, 1).value_or(Integers{}), call.integer("keepdims", 1) != 0};
  for (std::int64_t& axis : reduced.axes) axis = checked_axis(call, axis, x.dim());
  if (!reduced.axes.empty()) return reduced;
  reduced.nothing = call.is_set("noop_with_empty_axes");
  for (std::int64_t axis = 0; axis < x.dim(); ++axis) reduced.axes.push_back(axis);
  return reduced;
}

/// `function(x, axes, keep)` over the node's axes.
template <at::Tensor (*function)(const at::Tensor&, const Integers&, bool)>
Tensors reduce(OnnxCall& call) {
  const Reduced reduced = reduced_axes(call);
  if (reduced.nothing) return {call.input(0)};
  return {function(call.input(0), reduced.axes, reduced.keep)};
}

/// Integer sums keep their dtype; PyTorch would widen them.
at::Tensor sum(const at::Tensor& x, const Integers& axes, bool keep) {
  return at::sum(x, axes, keep, x.scalar_type());
}

at::Tensor mean(const at::Tensor& x, const Integers& axes, bool keep) {
  return at::mean(x, axes, keep);
}

/// The result over zero elements: `number`, the identity of the reduction.
at::Tensor of_nothing(const at::Tensor& x, const Integers& axes, bool keep, double number) {
  const at::Tensor shape = at::sum(x, axes, keep);
  if (x.scalar_type() == at::kBool) number = number > 0;
  return at::full(shape.sizes(), number, x.options());
}

at::Tensor largest(const at::Tensor& x, const Integers& axes, bool keep) {
  if (x.numel() == 0) return of_nothing(x, axes, keep, -std::numeric_limits<double>::infinity());
  return at::amax(x, axes, keep);
}

at::Tensor smallest(const at::Tensor& x, const Integers& axes, bool keep) {
  if (x.numel() == 0) return of_nothing(x, axes, keep, std::numeric_limits<double>::infinity());
  return at::amin(x, axes, keep);
}

/// Reduces one axis at a time, the last first, so that the other axes keep their positions.
at::Tensor product(const at::Tensor& x, const Integers& axes, bool keep) {
  Integers ordered = axes;
  std::sort(ordered.rbegin(), ordered.rend());
  at::Tensor result = x;
  for (const std::int64_t axis : ordered) result = at::prod(result, axis, keep, x.scalar_type());
  return result;
}

at::Tensor norm1(const at::Tensor& x, const Integers& axes, bool keep) {
  return sum(at::abs(x), axes, keep);
}

at::Tensor norm2(const at::Tensor& x, const Integers& axes, bool keep) {
  return at::linalg_vector_norm(x, 2, axes, keep);
}

at::Tensor log_sum(const at::Tensor& x, const Integers& axes, bool keep) {
  return at::log(sum(x, axes, keep));
}

at::Tensor log_sum_exp(const at::Tensor& x, const Integers& axes, bool keep) {
  return at::logsumexp(x, axes, keep);
}

at::Tensor sum_of_squares(const at::Tensor& x, const Integers& axes, bool keep) {
  return sum(at::mul(x, x), axes, keep);
}

template <at::Tensor (*function)(const at::Tensor&, std::optional<std::int64_t>, bool)>
Tensors find_extreme(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), x.dim());
  const bool keep = call.integer("keepdims", 1) != 0;
  if (!call.is_set("select_last_index")) return {function(x, axis, keep)};
  const at::Tensor from_end = function(x.flip({axis}), axis, keep);
  return {at::sub(at::scalar_tensor(x.size(axis) - 1, host_options(at::kLong)), from_end)};
}

Tensors top_k(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer("axis", -1), x.dim());
  const std::int64_t k = call.has(1) ? call.integer_of(1) : call.integer("k", 1);
  const bool largest = call.integer("largest", 1) != 0;
  // For equal values ONNX takes the first one. PyTorch's topk takes any; its stable sort, used for
  // real tensors on the host, takes the first.
  if (is_real(x) && !x.requires_grad()) {
    const auto [sorted, order] = at::sort(x, /*stable=*/true, axis, largest);
    return {at::slice(sorted, axis, 0, k), at::slice(order, axis, 0, k)};
  }
  auto [values, indices] = at::topk(x, k, axis, largest, call.integer("sorted", 1) != 0);
  return {values, indices};
}

constexpr Lowering reduction_rows[] = {
    {"onnx::ArgMax", find_extreme<at::argmax>},
    {"onnx::ArgMin", find_extreme<at::argmin>},
    {"onnx::ReduceL1", reduce<norm1>},
    {"onnx::ReduceL2", reduce<norm2>},
    {"onnx::ReduceLogSum", reduce<log_sum>},
    {"onnx::ReduceLogSumExp", reduce<log_sum_exp>},
    {"onnx::ReduceMax", reduce<largest>},
    {"onnx::ReduceMean", reduce<mean>},
    {"onnx::ReduceMin", reduce<smallest>},
    {"onnx::ReduceProd", reduce<product>},
    {"onnx::ReduceSum", reduce<sum>},
    {"onnx::ReduceSumSquare", reduce<sum_of_squares>},
    {"onnx::TopK", top_k},
};

}  // namespace

Lowerings reduction_lowerings() { return reduction_rows; }

}  // namespace symprof::lowering
