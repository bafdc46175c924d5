// Reading and writing by index.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/unbacked_size.h"

namespace symprof::lowering {
namespace {

/// Negative ONNX indices count from the end. Real indices are checked and corrected; device indices
/// are used unchanged, as in the exported PyTorch program.
at::Tensor checked_indices(const OnnxCall& call, const at::Tensor& indices, const at::Tensor& like,
                           std::int64_t size) {
  at::Tensor result = indices;
  if (is_real(indices) && indices.numel() > 0) {
    const auto least = indices.min().item<std::int64_t>(),
               most = indices.max().item<std::int64_t>();
    if (least < -size || most >= size)
      call.fail(fmt::format("indices from {} to {} into a dimension of {}", least, most, size));
    if (least < 0) result = at::where(at::lt(indices, 0), at::add(indices, size), indices);
  }
  return to_device_of(result, like);
}

/// True for an embedding table: a floating-point matrix of the model that is indexed by rows.
bool is_table(const OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Value* value = call.value(0);
  return x.dim() == 2 && at::isFloatingType(x.scalar_type()) && value != nullptr &&
         (x.requires_grad() || value->kind != ValueKind::result);
}

Tensors gather(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const at::Tensor& indices = call.input(1);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), x.dim());
  if (x.dim() == 0) call.fail("a scalar has no axis to gather from");
  if (const auto index = call.known_scalar(1); index && indices.dim() == 0)
    return {at::select(x, axis, index->toLong())};
  if (axis == 0 && indices.dim() > 0 && is_table(call))
    return {at::embedding(x, checked_indices(call, indices, x, x.size(0)))};
  const at::Tensor ready =
      is_real(x) && is_real(indices)
          ? checked_indices(call, indices, indices, x.size(axis))
          : checked_indices(call, indices, is_real(x) ? indices : x, x.size(axis));
  const at::Tensor source = to_device_of(x, ready);
  if (ready.dim() == 1) return {at::index_select(source, axis, ready)};
  Integers sizes(source.sizes().begin(), source.sizes().begin() + axis);
  sizes.insert(sizes.end(), ready.sizes().begin(), ready.sizes().end());
  sizes.insert(sizes.end(), source.sizes().begin() + axis + 1, source.sizes().end());
  return {at::index_select(source, axis, ready.reshape({-1})).reshape(sizes)};
}

Tensors gather_elements(OnnxCall& call) {
  const at::Tensor x =
      is_real(call.input(0)) ? to_device_of(call.input(0), call.input(1)) : call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), x.dim());
  return {at::gather(x, axis, checked_indices(call, call.input(1), x, x.size(axis)))};
}

/// The last axis of `indices` [..., k] as k index tensors for the dimensions from `first` on.
c10::List<std::optional<at::Tensor>> index_list(const OnnxCall& call, const at::Tensor& x,
                                                const at::Tensor& indices, std::int64_t first) {
  c10::List<std::optional<at::Tensor>> list;
  const std::int64_t depth = indices.dim() == 0 ? 0 : indices.size(-1);
  if (depth < 1 || first + depth > x.dim())
    call.fail(fmt::format("indices [{}] into a tensor of rank {}", fmt::join(indices.sizes(), ", "),
                          x.dim()));
  // Index tensors of the leading batch dimensions: 0 … size - 1, each along its own axis.
  for (std::int64_t i = 0; i < first; ++i) {
    Integers sizes(static_cast<std::size_t>(indices.dim()) - 1, 1);
    sizes[static_cast<std::size_t>(i)] = x.size(i);
    list.push_back(at::arange(x.size(i), at::device(x.device()).dtype(at::kLong)).reshape(sizes));
  }
  for (std::int64_t i = 0; i < depth; ++i)
    list.push_back(checked_indices(call, indices.select(-1, i), x, x.size(first + i)));
  return list;
}

Tensors gather_nd(OnnxCall& call) {
  const at::Tensor x =
      is_real(call.input(0)) ? to_device_of(call.input(0), call.input(1)) : call.input(0);
  const std::int64_t batch = call.integer("batch_dims", 0);
  if (batch < 0 || batch >= std::min(x.dim(), call.input(1).dim()))
    call.fail(fmt::format("{} batch dimensions of a tensor of rank {}", batch, x.dim()));
  return {at::index(x, index_list(call, x, call.input(1), batch))};
}

/// The name that at::scatter_reduce has for an ONNX reduction; empty for plain writing.
std::string reduction(const OnnxCall& call) {
  const std::string name = call.text("reduction", "none");
  if (name == "none") return "";
  if (name == "add") return "sum";
  if (name == "mul") return "prod";
  if (name == "max") return "amax";
  if (name == "min") return "amin";
  call.fail("the reduction '" + name + "'", "Wanted: none, add, mul, max or min.");
}

/// The tensor to write into. A host constant is moved to the device of the values or the indices.
at::Tensor target(const OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (!is_real(x)) return x;
  const at::Tensor& updates = call.input(2);
  return to_device_of(x, is_real(updates) ? call.input(1) : updates);
}

Tensors scatter_elements(OnnxCall& call) {
  const at::Tensor x = target(call);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), x.dim());
  const at::Tensor indices = checked_indices(call, call.input(1), x, x.size(axis));
  const at::Tensor updates = to_device_of(call.input(2), x);
  const std::string how = reduction(call);
  if (how.empty()) return {at::scatter(x, axis, indices, updates)};
  if (how == "sum") return {at::scatter_add(x, axis, indices, updates)};
  return {at::scatter_reduce(x, axis, indices, updates, how)};
}

/// Reduction by product, minimum or maximum over rows of the flattened leading dimensions.
at::Tensor scatter_nd_reduce(const OnnxCall& call, const std::string& how) {
  const at::Tensor x = target(call);
  const at::Tensor indices = to_device_of(call.input(1), x);
  const std::int64_t depth = indices.size(-1);
  at::Tensor row = at::zeros({}, indices.options());
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i < depth; ++i, rows *= x.size(i - 1))
    row = at::add(at::mul(row, x.size(i)), at::remainder(indices.select(-1, i), x.size(i)));
  const at::Tensor flat = x.reshape({rows, -1});
  const at::Tensor updates = to_device_of(call.input(2), x).reshape({-1, flat.size(1)});
  const at::Tensor places = row.reshape({-1, 1}).expand(updates.sizes());
  return at::scatter_reduce(flat, 0, places, updates, how).reshape(x.sizes());
}

Tensors scatter_nd(OnnxCall& call) {
  const at::Tensor x = target(call);
  const std::string how = reduction(call);
  if (!how.empty() && how != "sum") return {scatter_nd_reduce(call, how)};
  return {at::index_put(x, index_list(call, x, call.input(1), 0), to_device_of(call.input(2), x),
                        /*accumulate=*/how == "sum")};
}

Tensors nonzero(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (!values_of(x).defined()) unbacked_size(call, x.numel(), "how many elements are not zero");
  return {at::nonzero(x).t()};
}

constexpr Lowering indexing_rows[] = {
    {"onnx::Gather", gather},
    {"onnx::GatherElements", gather_elements},
    {"onnx::GatherND", gather_nd},
    {"onnx::NonZero", nonzero},
    {"onnx::Scatter", scatter_elements},
    {"onnx::ScatterElements", scatter_elements},
    {"onnx::ScatterND", scatter_nd},
};

}  // namespace

Lowerings indexing_lowerings() { return indexing_rows; }

}  // namespace symprof::lowering
