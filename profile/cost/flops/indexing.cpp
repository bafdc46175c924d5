// Gathers and scatters: only indexed rows are touched, once per index. Repeated indices depend on
// values, so repeated rows count again.
#include <algorithm>

#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

enum class Scatter { replaces, adds };

/// `touched` elements of argument 0 are written (and first read, when adding) from the other tensor
/// arguments. An in-place call touches only those elements; an out-of-place call first copies all
/// of argument 0.
Cost scatter(const Call& call, const TensorSpec& self, Count touched, Scatter how) {
  const Count bytes = touched * element_bytes(self.dtype);
  const bool in_place = call.op().ends_with('_');
  const bool adds = how == Scatter::adds;
  Count read = read_bytes(call, 0) + (adds ? bytes : 0);
  if (!in_place) read += stored_bytes(self);
  const Count copied = in_place ? Count(0) : written_bytes(call);
  return cost({.other = adds ? touched : Count(0)}, read, copied + bytes);
}

/// scatter(self, dim, index, ...), index_add(self, dim, index, source): `from`: the argument with
/// one element per element touched.
template <Scatter how, int from>
Estimate scatters(const Call& call) {
  const TensorSpec *self = call.input_at(0), *source = call.input_at(from);
  if (!self || !source) return std::nullopt;
  return scatter(call, *self, elements(*source), how);
}

/// index_put(self, indices, values, accumulate): values are broadcast, so there may be more indexed
/// elements than values.
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

/// index_fill(self, dim, index, value): writes the indexed rows of `dim`.
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

constexpr Rule indexing_rows[] = {
    {"aten::index", gathers},
    {"aten::_unsafe_index", gathers},
    {"aten::index_select", gathers},
    {"aten::gather", gathers},
    {"aten::take", gathers},
    {"aten::take_along_dim", gathers},
    {"aten::_unsafe_masked_index", gathers, modelled},
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
};

}  // namespace

Rules indexing_rules() { return indexing_rows; }

}  // namespace symprof::profile
