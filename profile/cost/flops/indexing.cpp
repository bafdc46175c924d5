// Look-ups and scatters: only the rows that an index names are touched, each as often as it is
// named. Which indices repeat is a matter of values, so repeated rows count again.
#include <algorithm>

#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

/// Rows of argument 0 make the output; all other arguments are read whole.
Estimate gathers(const Call& call) {
  const Count written = written_bytes(call);
  return cost({}, read_bytes(call, 0) + written, written);
}

/// embedding_bag(weight, indices, ...): rows [indices, D] summed into bags.
Estimate embedding_bag(const Call& call) {
  const TensorSpec *weight = call.input_at(0), *indices = call.input_at(1);
  if (!weight || !indices || weight->sizes.size() != 2) return std::nullopt;
  const Count looked_up = elements(*indices) * weight->sizes[1];
  return cost({.other = looked_up}, read_bytes(call, 0) + looked_up * element_bytes(weight->dtype),
              written_bytes(call));
}

/// embedding_dense_backward(grad, indices, ...): zeros, then each gradient added to its row.
Estimate embedding_dense_backward(const Call& call) {
  const TensorSpec* gradient = call.input_at(0);
  const TensorSpec* weight_gradient = call.output(0);
  if (!gradient || !weight_gradient) return std::nullopt;
  const Count rows_bytes = elements(*gradient) * element_bytes(weight_gradient->dtype);
  return cost({.other = elements(*gradient)}, read_bytes(call) + rows_bytes,
              written_bytes(call) + rows_bytes);
}

/// embedding_bag's backward(grad, indices, ..., mode, ...): each index adds its bag's gradient to a
/// row; of the maxima (mode 2), each element goes to one row.
template <int mode_position>
Estimate embedding_bag_backward(const Call& call) {
  constexpr int max_mode = 2;
  const TensorSpec *gradient = call.input_at(0), *indices = call.input_at(1);
  const TensorSpec* weight_gradient = call.output(0);
  if (!gradient || !indices || !weight_gradient || gradient->sizes.size() != 2) return std::nullopt;
  const Count added = call.integer(mode_position, 0, 0) == max_mode
                          ? elements(*gradient)
                          : elements(*indices) * gradient->sizes[1];
  const Count rows_bytes = added * element_bytes(weight_gradient->dtype);
  return cost({.other = added}, read_bytes(call) + rows_bytes, written_bytes(call) + rows_bytes);
}

enum class Scatter { replaces, adds };

/// `touched` elements of argument 0 are written (read first when adding), from the tensors given
/// with it. An in-place call touches those alone; otherwise all of it is copied first.
Cost scatter(const Call& call, const TensorSpec& self, Count touched, Scatter how) {
  const Count bytes = touched * element_bytes(self.dtype);
  const bool in_place = call.op().ends_with('_');
  const bool adds = how == Scatter::adds;
  Count read = read_bytes(call, 0) + (adds ? bytes : 0);
  if (!in_place) read += stored_bytes(self);
  const Count copied = in_place ? Count(0) : written_bytes(call);
  return cost({.other = adds ? touched : Count(0)}, read, copied + bytes);
}

/// scatter(self, dim, index, ...), index_add(self, dim, index, source): `from` has one element for
/// each element touched.
template <Scatter how, int from>
Estimate scatters(const Call& call) {
  const TensorSpec *self = call.input_at(0), *source = call.input_at(from);
  if (!self || !source) return std::nullopt;
  return scatter(call, *self, elements(*source), how);
}

/// index_put(self, indices, values, accumulate): values are broadcast, so the indices may name
/// more elements than there are values.
Estimate index_put(const Call& call) {
  const TensorSpec *self = call.input_at(0), *values = call.input_at(2);
  if (!self || !values) return std::nullopt;
  Count touched = elements(*values);
  const CallRecord& record = call.record();
  for (std::size_t i = 0; i < record.inputs.size(); ++i)
    if (const TensorSpec* index = call.spec(record.inputs[i]);
        index && record.input_positions[i] == 1)
      touched = std::max(touched, elements(*index));
  return scatter(call, *self, touched, call.integer(3, 0, 0) ? Scatter::adds : Scatter::replaces);
}

/// index_fill(self, dim, index, value): the rows of `dim` that the index names.
Estimate index_fill(const Call& call) {
  const TensorSpec *self = call.input_at(0), *index = call.input_at(2);
  if (!self || !index || self->sizes.empty()) return std::nullopt;
  const std::int64_t rank = static_cast<std::int64_t>(self->sizes.size());
  std::int64_t dim = call.integer(1, 0, 0);
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) return std::nullopt;
  Count touched = elements(*index);
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != dim) touched *= self->sizes[i];
  return scatter(call, *self, touched, Scatter::replaces);
}

/// A comparison sort: log2(n) comparisons for each element, n at most the longest dimension.
Estimate sorts(const Call& call) {
  const TensorSpec* self = call.input(0);
  if (!self) return std::nullopt;
  std::int64_t longest = 1, rounds = 0;
  for (std::int64_t size : self->sizes) longest = std::max(longest, size);
  while ((longest - 1) >> rounds) ++rounds;
  return streaming(call, {.other = rounds * elements(*self)});
}

constexpr Rule indexing_rows[] = {
    {"aten::embedding", gathers},
    {"aten::embedding_dense_backward", embedding_dense_backward, modelled},
    {"aten::embedding_renorm", moves, modelled},
    {"aten::_embedding_bag", embedding_bag, modelled},
    {"aten::_embedding_bag_forward_only", embedding_bag, modelled},
    {"aten::_embedding_bag_backward", embedding_bag_backward<8>, modelled},
    {"aten::_embedding_bag_dense_backward", embedding_bag_backward<7>, modelled},
    {"aten::index", gathers},
    {"aten::_unsafe_index", gathers},
    {"aten::index_select", gathers},
    {"aten::gather", gathers},
    {"aten::take", gathers},
    {"aten::take_along_dim", gathers},
    {"aten::_unsafe_masked_index", gathers, modelled},
    {"aten::masked_select", gathers, modelled},
    {"aten::nonzero", per_input<1>, modelled},
    {"aten::nonzero_static", per_input<1>, modelled},
    {"aten::index_put", index_put, modelled},
    {"aten::_index_put_impl", index_put, modelled},
    {"aten::_unsafe_index_put", index_put, modelled},
    {"aten::index_add", scatters<Scatter::adds, 3>, modelled},
    {"aten::index_copy", scatters<Scatter::replaces, 3>, modelled},
    {"aten::index_reduce", scatters<Scatter::adds, 3>, modelled},
    {"aten::index_fill", index_fill, modelled},
    {"aten::scatter", scatters<Scatter::replaces, 2>, modelled},
    {"aten::scatter_add", scatters<Scatter::adds, 2>, modelled},
    {"aten::scatter_reduce", scatters<Scatter::adds, 2>, modelled},
    {"aten::put", scatters<Scatter::replaces, 1>, modelled},
    {"aten::masked_scatter", moves, modelled},
    {"aten::masked_scatter_backward", moves, modelled},
    {"aten::sort", sorts, modelled},
    {"aten::argsort", sorts, modelled},
    {"aten::msort", sorts, modelled},
    {"aten::topk", per_input<1>, modelled},
    {"aten::unique_dim", sorts, modelled},
    {"aten::_unique2", sorts, modelled},
    {"aten::_unique", sorts, modelled},
    {"aten::unique_consecutive", per_input<1>, modelled},
    {"aten::unique_dim_consecutive", per_input<1>, modelled},
    {"aten::histogram", per_input<1>, modelled},
    {"aten::searchsorted", per_output<1>, modelled},
    {"aten::bucketize", per_output<1>, modelled},
};

}  // namespace

Rules indexing_rules() { return indexing_rows; }

}  // namespace symprof::profile
