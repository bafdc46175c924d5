// Operators with data-dependent output sizes or values: the given size or its upper bound, if the
// current mode's observer supplies one, else an error.
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <torch/library.h>

#include "base/error.h"
#include "base/given_values.h"
#include "base/values_setting.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/known_values.h"
#include "meta/fake/observer.h"
#include "meta/fake/upper_bound_sizes.h"
#include "meta/kernels/allocation.h"
#include "meta/kernels/composites.h"
#include "meta/kernels/families.h"
#include "meta/kernels/unbacked_size.h"

namespace symprof::kernels {

int64_t unbacked_size(const char* op, std::optional<int64_t> most, std::optional<int64_t> known) {
  const auto observer = meta::current_observer();
  if (known) {
    if (observer) observer->on_known_number(*known);
    return *known;
  }
  if (const auto size = observer ? observer->unbacked_size(most) : std::nullopt) {
    meta::take_upper_bound();
    return *size;
  }
  constexpr const char* what =
      "its output size depends on data, and a tensor without storage has none";
  if (meta::is_in_program())
    throw Error(op, what, "Say the values of its operand with " + given_values() + ".");
  const std::string values = "give the values of the input that decides it with " +
                             values_setting() + ", or the size with " + setting("sizes") +
                             " where a .pt2 file has a symbol for it (u0=8)";
  throw Error(
      op, what,
      most ? "Take the upper bound with " + setting("unbacked", "max") + ", " + values + "."
           : "There is no upper bound: " + values + ", or export the model with a fixed size.");
}

namespace {

using at::Tensor;
using Three = std::tuple<Tensor, Tensor, Tensor>;

void refuse_size(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK(false, op.operator_name(), ": its output size depends on data, and a tensor without ",
              "storage has none; replace it with an operator of static size, or keep its input a ",
              "constant");
}

void refuse_value(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK(false, op.operator_name(), ": its result depends on data, and a tensor without ",
              "storage has none; keep its input a constant");
}

/// The result of `count` on the values of `tensor`, if they are known.
template <class Count>
std::optional<int64_t> counted(const Tensor& tensor, Count&& count) {
  const auto values = meta::known_values(tensor);
  return values ? std::optional<int64_t>(count(*values)) : std::nullopt;
}

int64_t nonzero_elements(const Tensor& values) { return at::count_nonzero(values).item<int64_t>(); }

// One column per dimension, as nonzero on CUDA.
Tensor nonzero(const Tensor& self) {
  const int64_t size =
      unbacked_size("aten::nonzero", self.numel(), counted(self, nonzero_elements));
  return fresh({self.dim(), size}, self, at::kLong).t();
}

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask");
  const std::vector<int64_t> sizes = at::infer_size(self.sizes(), mask.sizes());
  int64_t most = 1;
  for (const int64_t size : sizes) most *= size;
  const auto known =
      counted(mask, [&](const Tensor& values) { return nonzero_elements(values.expand(sizes)); });
  return fresh({unbacked_size("aten::masked_select", most, known)}, self);
}

enum class Order { sorted, as_given };

// Unique elements, inverse indices, and counts; outputs that are not requested are empty
// (native/cuda/UniqueCub.cu). Elements and counts are allocated for the maximum number and keep
// that storage. Sorted booleans are always counted.
Three unique_elements(const char* op, const Tensor& self, Order order, bool inverse, bool counts) {
  const bool is_counted = order == Order::sorted && self.scalar_type() == at::kBool;
  const int64_t room = is_counted && self.numel() > 0 ? 2 : self.numel();
  const auto known = counted(self, [&](const Tensor& values) {
    return order == Order::sorted ? std::get<0>(at::_unique2(values)).numel()
                                  : std::get<0>(at::unique_consecutive(values)).numel();
  });
  const int64_t size = unbacked_size(op, std::min(room, self.numel()), known);
  const auto cut = [&](at::ScalarType type) {
    return fresh({room}, self, type).narrow(0, 0, size);
  };
  const std::vector<int64_t> places = inverse ? self.sizes().vec() : std::vector<int64_t>{0};
  return {cut(self.scalar_type()), fresh(places, self, at::kLong),
          counts || is_counted ? cut(at::kLong) : fresh({0}, self, at::kLong)};
}

Three unique_slices(const char* op, const Tensor& self, int64_t dim, Order order, bool inverse,
                    bool counts) {
  const int64_t axis = at::maybe_wrap_dim(dim, self.dim());
  const auto known = counted(self, [&](const Tensor& values) {
    return order == Order::sorted
               ? std::get<0>(at::unique_dim(values, axis)).size(axis)
               : std::get<0>(at::unique_consecutive(values, false, false, axis)).size(axis);
  });
  const int64_t size = unbacked_size(op, self.size(axis), known);
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes[static_cast<std::size_t>(axis)] = size;
  return {fresh(sizes, self), fresh({inverse ? self.size(axis) : 0}, self, at::kLong),
          fresh({counts ? size : 0}, self, at::kLong)};
}

std::tuple<Tensor, Tensor> unique(const Tensor& self, bool, bool inverse) {
  const auto [elements, places, counts] =
      unique_elements("aten::_unique", self, Order::sorted, inverse, false);
  return {elements, places};
}
Three unique2(const Tensor& self, bool, bool inverse, bool counts) {
  return unique_elements("aten::_unique2", self, Order::sorted, inverse, counts);
}
Three unique_dim(const Tensor& self, int64_t dim, bool, bool inverse, bool counts) {
  return unique_slices("aten::unique_dim", self, dim, Order::sorted, inverse, counts);
}
Three unique_dim_consecutive(const Tensor& self, int64_t dim, bool inverse, bool counts) {
  return unique_slices("aten::unique_dim_consecutive", self, dim, Order::as_given, inverse, counts);
}
Three unique_consecutive(const Tensor& self, bool inverse, bool counts,
                         std::optional<int64_t> dim) {
  const char* op = "aten::unique_consecutive";
  return dim ? unique_slices(op, self, *dim, Order::as_given, inverse, counts)
             : unique_elements(op, self, Order::as_given, inverse, counts);
}

/// One more than the largest possible element, if its bounds are known.
std::optional<int64_t> most_bins(const Tensor& self, int64_t least) {
  const meta::ValueRange range = meta::range_of(self);
  if (range.high > 1e15) return std::nullopt;
  return std::max(least, static_cast<int64_t>(range.high) + 1);
}

// The number of bins, from the largest element. A program that gives a minimum is assumed to have
// no larger element: it counts tokens of experts, votes for classes.
std::optional<int64_t> known_bins(const Tensor& self, int64_t least) {
  const auto known =
      counted(self, [&](const Tensor& values) { return at::bincount(values, {}, least).numel(); });
  if (known || least == 0) return known;
  const bool is_enough = meta::is_in_program() || most_bins(self, least) == least;
  return is_enough ? std::optional(least) : std::nullopt;
}

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights, int64_t least) {
  const int64_t size = std::max(
      least, unbacked_size("aten::bincount", most_bins(self, least), known_bins(self, least)));
  const bool weighted = weights && weights->defined();
  const at::ScalarType type = !weighted                              ? at::kLong
                              : weights->scalar_type() == at::kFloat ? at::kFloat
                                                                     : at::kDouble;
  return fresh({size}, self, type);
}

/// The result of `compare` on known values; else the observer's value, or false for validity
/// checks.
template <class Compare>
bool compared(const char* op, const Tensor& self, const Tensor& other, Compare&& compare) {
  const auto left = meta::known_values(self), right = meta::known_values(other);
  if (left && right) return compare(*left, *right);
  if (meta::is_in_program() && !looks_for_faults()) {
    const auto observer = meta::current_observer();
    const auto answer =
        observer ? observer->unbacked_number(-1, meta::between(0, 1)) : std::nullopt;
    if (answer) return *answer != 0;
  }
  TORCH_CHECK(looks_for_faults(), op,
              ": its result depends on data, and a tensor without storage has none; give the "
              "values of inputs that decide it, or keep its operands constants");
  return false;
}

bool equal(const Tensor& self, const Tensor& other) {
  return compared("aten::equal", self, other,
                  [](const Tensor& a, const Tensor& b) { return at::equal(a, b); });
}

bool allclose(const Tensor& self, const Tensor& other, double relative, double absolute,
              bool equal_nan) {
  return compared("aten::allclose", self, other, [&](const Tensor& a, const Tensor& b) {
    return at::allclose(a, b, relative, absolute, equal_nan);
  });
}

constexpr const char* size_depends_on_data[] = {"_ctc_loss.Tensor", "_cudnn_ctc_loss.Tensor"};

constexpr const char* value_depends_on_data[] = {"_local_scalar_dense"};

}  // namespace

void register_data_dependent(torch::Library& library) {
  library.impl("nonzero", &nonzero);
  library.impl("masked_select", &masked_select);
  library.impl("_unique", &unique);
  library.impl("_unique2", &unique2);
  library.impl("unique_dim", &unique_dim);
  library.impl("unique_dim_consecutive", &unique_dim_consecutive);
  library.impl("unique_consecutive", &unique_consecutive);
  library.impl("bincount", &bincount);
  library.impl("equal", &equal);
  library.impl("allclose", &allclose);
  for (const char* op : size_depends_on_data) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&refuse_size>());
  }
  for (const char* op : value_depends_on_data) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&refuse_value>());
  }
}

}  // namespace symprof::kernels
