#include "workbench/optimize/evaluate.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>

#include "trace/onnx/tensors.h"
#include "workbench/optimize/attributes.h"

namespace symprof::workbench {
namespace {

using Sizes = std::vector<std::int64_t>;
using Results = std::optional<std::vector<ConstantPointer>>;

struct Call {
  const onnx::NodeProto& node;
  const std::vector<ConstantPointer>& inputs;
  std::int64_t most_elements;

  const ConstantTensor* input(std::size_t index) const {
    return index < inputs.size() ? inputs[index].get() : nullptr;
  }
  /// Integers of an input, or of the attribute that older opsets have in its place.
  Sizes list(std::size_t index, std::string_view attribute) const {
    if (const ConstantTensor* tensor = input(index)) return integers_of(*tensor);
    return integers(node, attribute);
  }
};

std::int64_t count_of(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes)
    if (__builtin_mul_overflow(count, size, &count)) return -1;
  return count;
}

std::int64_t axis_of(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

Results one(ConstantPointer constant) {
  if (!constant) return std::nullopt;
  return std::vector<ConstantPointer>{std::move(constant)};
}

/// `source` with other sizes and the same bytes.
Results reshaped(const ConstantTensor& source, Sizes sizes) {
  if (count_of(sizes) != source.spec.numel()) return std::nullopt;
  auto out = std::make_shared<ConstantTensor>(source);
  out->spec.strides = contiguous_strides(sizes);
  out->spec.sizes = std::move(sizes);
  return one(out);
}

/// A tensor whose element at each index is that of `source` at the place that `from` says.
template <class From>
Results gathered(const ConstantTensor& source, Sizes sizes, std::int64_t most, From from) {
  const std::int64_t count = count_of(sizes);
  if (count < 0 || count > most || element_bits(source.spec.dtype) < 8) return std::nullopt;
  auto out = std::make_shared<ConstantTensor>();
  out->spec.dtype = source.spec.dtype;
  out->spec.strides = contiguous_strides(sizes);
  out->spec.sizes = sizes;
  const auto width = static_cast<std::size_t>(element_bytes(source.spec.dtype));
  out->data.resize(static_cast<std::size_t>(count) * width);
  Sizes index(sizes.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place = from(index);
    if (place < 0 || place >= source.spec.numel()) return std::nullopt;
    std::memcpy(out->data.data() + static_cast<std::size_t>(i) * width,
                source.data.data() + static_cast<std::size_t>(place) * width, width);
    for (std::size_t d = sizes.size(); d-- > 0 && ++index[d] == sizes[d];) index[d] = 0;
  }
  return one(out);
}

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  Sizes out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

Results expanded(const ConstantTensor& source, const Sizes& sizes, std::int64_t most) {
  const Sizes& own = source.spec.sizes;
  const auto target = broadcast(own, sizes);
  if (!target) return std::nullopt;
  const std::size_t shift = target->size() - own.size();
  return gathered(source, *target, most, [&](const Sizes& index) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < own.size(); ++d)
      place += (own[d] == 1 ? 0 : index[d + shift]) * source.spec.strides[d];
    return place;
  });
}

// Moves of elements.

Results reshape(const Call& call) {
  if (!call.input(1)) return std::nullopt;
  Sizes sizes = integers_of(*call.input(1));
  const Sizes& own = call.input(0)->spec.sizes;
  std::int64_t known = 1, open = -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 && integer(call.node, "allowzero", 0) == 0) {
      if (i >= own.size()) return std::nullopt;
      sizes[i] = own[i];
    }
    if (sizes[i] == -1)
      open = static_cast<std::int64_t>(i);
    else
      known *= sizes[i];
  }
  if (open >= 0) {
    if (known == 0) return std::nullopt;
    sizes[static_cast<std::size_t>(open)] = call.input(0)->spec.numel() / known;
  }
  return reshaped(*call.input(0), sizes);
}

Results squeeze(const Call& call) {
  const Sizes& own = call.input(0)->spec.sizes;
  Sizes axes = call.list(1, "axes");
  for (std::int64_t& axis : axes) axis = axis_of(axis, own.size());
  Sizes sizes;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool named =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (axes.empty() ? own[i] != 1 : !named) sizes.push_back(own[i]);
  }
  return reshaped(*call.input(0), sizes);
}

Results unsqueeze(const Call& call) {
  const Sizes& own = call.input(0)->spec.sizes;
  Sizes axes = call.list(1, "axes");
  const std::size_t rank = own.size() + axes.size();
  for (std::int64_t& axis : axes) axis = axis_of(axis, rank);
  Sizes sizes;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end())
      sizes.push_back(1);
    else if (next < own.size())
      sizes.push_back(own[next++]);
  }
  return reshaped(*call.input(0), sizes);
}

Results transpose(const Call& call) {
  const ConstantTensor& source = *call.input(0);
  Sizes perm = integers(call.node, "perm");
  const std::size_t rank = source.spec.sizes.size();
  if (perm.empty())
    for (std::size_t i = rank; i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
  if (perm.size() != rank) return std::nullopt;
  Sizes sizes, strides;
  for (const std::int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
    sizes.push_back(source.spec.sizes[static_cast<std::size_t>(axis)]);
    strides.push_back(source.spec.strides[static_cast<std::size_t>(axis)]);
  }
  return gathered(source, sizes, source.spec.numel(), [&](const Sizes& index) {
    return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
  });
}

Results slice(const Call& call) {
  const ConstantTensor& source = *call.input(0);
  const Sizes& own = source.spec.sizes;
  const Sizes starts = call.list(1, "starts"), ends = call.list(2, "ends");
  Sizes axes = call.list(3, "axes"), steps = call.list(4, "steps");
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return std::nullopt;
  Sizes first(own.size(), 0), step(own.size(), 1), sizes = own;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axis_of(axes[i], own.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(own.size()) || steps[i] == 0)
      return std::nullopt;
    const auto d = static_cast<std::size_t>(axis);
    const std::int64_t size = own[d], low = steps[i] > 0 ? 0 : -1,
                       high = steps[i] > 0 ? size : size - 1;
    const auto bound = [&](std::int64_t at) {
      return std::clamp(at < 0 ? at + size : at, low, high);
    };
    const std::int64_t begin = std::clamp(bound(starts[i]), std::int64_t{0}, high);
    const std::int64_t end = ends[i] < -size ? low : bound(ends[i]);
    const std::int64_t span = steps[i] > 0 ? end - begin : begin - end, stride = std::abs(steps[i]);
    first[d] = begin;
    step[d] = steps[i];
    sizes[d] = std::max<std::int64_t>(0, (span + stride - 1) / stride);
  }
  return gathered(source, sizes, call.most_elements, [&](const Sizes& index) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < own.size(); ++d)
      place += (first[d] + index[d] * step[d]) * source.spec.strides[d];
    return place;
  });
}

Results gather(const Call& call) {
  const ConstantTensor &source = *call.input(0), &indices = *call.input(1);
  const Sizes& own = source.spec.sizes;
  const std::int64_t axis = axis_of(integer(call.node, "axis", 0), own.size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(own.size())) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  const Sizes places = integers_of(indices);
  Sizes sizes(own.begin(), own.begin() + axis);
  sizes.insert(sizes.end(), indices.spec.sizes.begin(), indices.spec.sizes.end());
  sizes.insert(sizes.end(), own.begin() + axis + 1, own.end());
  const std::size_t inner = indices.spec.sizes.size();
  return gathered(source, sizes, call.most_elements, [&](const Sizes& index) {
    std::int64_t place = 0, which = 0;
    for (std::size_t d = 0; d < at; ++d) place += index[d] * source.spec.strides[d];
    for (std::size_t d = 0; d < inner; ++d) which += index[at + d] * indices.spec.strides[d];
    std::int64_t row = places[static_cast<std::size_t>(which)];
    if (row < 0) row += own[at];
    if (row < 0 || row >= own[at]) return std::int64_t{-1};
    place += row * source.spec.strides[at];
    for (std::size_t d = at + 1; d < own.size(); ++d)
      place += index[d - 1 + inner] * source.spec.strides[d];
    return place;
  });
}

Results gather_nd(const Call& call) {
  const ConstantTensor &source = *call.input(0), &indices = *call.input(1);
  if (integer(call.node, "batch_dims", 0) != 0 || indices.spec.sizes.empty()) return std::nullopt;
  const Sizes places = integers_of(indices);
  const auto depth = static_cast<std::size_t>(indices.spec.sizes.back());
  const Sizes& own = source.spec.sizes;
  if (depth > own.size()) return std::nullopt;
  Sizes sizes(indices.spec.sizes.begin(), indices.spec.sizes.end() - 1);
  const std::size_t outer = sizes.size();
  sizes.insert(sizes.end(), own.begin() + static_cast<std::ptrdiff_t>(depth), own.end());
  return gathered(source, sizes, call.most_elements, [&](const Sizes& index) {
    std::int64_t which = 0, place = 0;
    for (std::size_t d = 0; d < outer; ++d) which += index[d] * indices.spec.strides[d];
    for (std::size_t d = 0; d < depth; ++d) {
      std::int64_t row = places[static_cast<std::size_t>(which) + d];
      if (row < 0) row += own[d];
      if (row < 0 || row >= own[d]) return std::int64_t{-1};
      place += row * source.spec.strides[d];
    }
    for (std::size_t d = depth; d < own.size(); ++d)
      place += index[d - depth + outer] * source.spec.strides[d];
    return place;
  });
}

Results concat(const Call& call) {
  const ConstantTensor& first = *call.input(0);
  const std::size_t rank = first.spec.sizes.size();
  const std::int64_t axis = axis_of(integer(call.node, "axis", 0), rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  auto out = std::make_shared<ConstantTensor>();
  out->spec = first.spec;
  out->spec.sizes[at] = 0;
  for (const ConstantPointer& input : call.inputs) {
    if (!input || input->spec.sizes.size() != rank || input->spec.dtype != first.spec.dtype)
      return std::nullopt;
    out->spec.sizes[at] += input->spec.sizes[at];
  }
  out->spec.strides = contiguous_strides(out->spec.sizes);
  if (out->spec.numel() > call.most_elements) return std::nullopt;
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < at; ++d) outer *= first.spec.sizes[d];
  for (std::int64_t row = 0; row < outer; ++row)
    for (const ConstantPointer& input : call.inputs) {
      const std::size_t width = input->data.size() / static_cast<std::size_t>(outer);
      const auto begin = input->data.begin() + static_cast<std::ptrdiff_t>(width) * row;
      out->data.insert(out->data.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  return one(out);
}

Results expand(const Call& call) {
  return expanded(*call.input(0), integers_of(*call.input(1)), call.most_elements);
}

Results constant_of_shape(const Call& call) {
  const auto* value = find_attribute(call.node, "value");
  const ConstantPointer fill =
      value ? trace::constant_tensor(value->t(), "value") : make_constant(DType::float32, {1}, {0});
  return fill ? gathered(*fill, integers_of(*call.input(0)), call.most_elements,
                         [](const Sizes&) { return std::int64_t{0}; })
              : std::nullopt;
}

Results trilu(const Call& call) {
  const ConstantTensor& source = *call.input(0);
  const std::size_t rank = source.spec.sizes.size();
  if (rank < 2) return std::nullopt;
  const std::int64_t k = call.input(1) ? integers_of(*call.input(1)).at(0) : 0;
  const bool upper = integer(call.node, "upper", 1) != 0;
  auto out = std::make_shared<ConstantTensor>(source);
  const std::int64_t rows = source.spec.sizes[rank - 2], columns = source.spec.sizes[rank - 1];
  const auto width = static_cast<std::size_t>(element_bytes(source.spec.dtype));
  for (std::int64_t i = 0; i < source.spec.numel(); ++i) {
    const std::int64_t row = i / columns % rows, column = i % columns;
    if (upper ? column - row < k : column - row > k)
      std::memset(out->data.data() + static_cast<std::size_t>(i) * width, 0, width);
  }
  return one(out);
}

// Arithmetic.

ConstantPointer made(DType dtype, Sizes sizes, const std::vector<double>& values) {
  if (is_floating_point(dtype)) return make_constant(dtype, std::move(sizes), values);
  Sizes whole;
  whole.reserve(values.size());
  for (const double value : values) {
    if (!(std::fabs(value) < 0x1p63)) return nullptr;
    whole.push_back(static_cast<std::int64_t>(value));
  }
  return make_integers(std::move(sizes), whole, dtype);
}

bool has_numbers(const ConstantTensor& tensor) {
  const DType dtype = tensor.spec.dtype;
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16 ||
         dtype == DType::bfloat16 || make_integers({}, {0}, dtype) != nullptr;
}

Results cast_to(const ConstantTensor& source, DType dtype) {
  if (dtype == source.spec.dtype) return one(std::make_shared<ConstantTensor>(source));
  if (!has_numbers(source)) return std::nullopt;
  const Sizes& sizes = source.spec.sizes;
  if (!is_floating_point(source.spec.dtype) && !is_floating_point(dtype)) {
    Sizes values = integers_of(source);
    if (dtype == DType::boolean)
      for (std::int64_t& value : values) value = value != 0;
    return one(make_integers(sizes, values, dtype));
  }
  std::vector<double> values = reals_of(source);
  if (dtype == DType::boolean)
    for (double& value : values) value = value != 0;
  return one(made(dtype, sizes, values));
}

Results cast(const Call& call) {
  const auto dtype = trace::onnx_dtype(static_cast<std::int32_t>(integer(call.node, "to", 0)));
  return dtype ? cast_to(*call.input(0), *dtype) : std::nullopt;
}

Results cast_like(const Call& call) { return cast_to(*call.input(0), call.input(1)->spec.dtype); }

template <class T>
std::vector<T> numbers_of(const ConstantTensor& tensor) {
  if constexpr (std::is_same_v<T, double>)
    return reals_of(tensor);
  else
    return integers_of(tensor);
}

/// The operands of a binary operator, both of one shape.
template <class T, class Operation>
std::optional<std::vector<T>> paired(const ConstantTensor& a, const ConstantTensor& b,
                                     const Sizes& sizes, std::int64_t most, Operation operation) {
  const Results left = expanded(a, sizes, most), right = expanded(b, sizes, most);
  if (!left || !right) return std::nullopt;
  const std::vector<T> x = numbers_of<T>(*left->front()), y = numbers_of<T>(*right->front());
  std::vector<T> out;
  out.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) out.push_back(operation(x[i], y[i]));
  return out;
}

struct BinaryRule {
  std::string_view op;
  double (*reals)(double, double);
  std::int64_t (*integers)(std::int64_t, std::int64_t);
  bool gives_truth = false;
};

std::int64_t wrapped(std::uint64_t value) { return static_cast<std::int64_t>(value); }

constexpr BinaryRule binary_rules[] = {
    {"Add", [](double a, double b) { return a + b; },
     [](std::int64_t a, std::int64_t b) {
       return wrapped(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
     }},
    {"Sub", [](double a, double b) { return a - b; },
     [](std::int64_t a, std::int64_t b) {
       return wrapped(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
     }},
    {"Mul", [](double a, double b) { return a * b; },
     [](std::int64_t a, std::int64_t b) {
       return wrapped(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
     }},
    {"Div", [](double a, double b) { return a / b; },
     [](std::int64_t a, std::int64_t b) {
       return b == 0 || b == -1 ? (b == 0 ? 0 : wrapped(-static_cast<std::uint64_t>(a))) : a / b;
     }},
    {"Pow", [](double a, double b) { return std::pow(a, b); }, nullptr},
    {"Max", [](double a, double b) { return std::isnan(a) || a > b ? a : b; },
     [](std::int64_t a, std::int64_t b) { return std::max(a, b); }},
    {"Min", [](double a, double b) { return std::isnan(a) || a < b ? a : b; },
     [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
    {"Equal", [](double a, double b) { return static_cast<double>(a == b); },
     [](std::int64_t a, std::int64_t b) { return std::int64_t{a == b}; }, true},
    {"Greater", [](double a, double b) { return static_cast<double>(a > b); },
     [](std::int64_t a, std::int64_t b) { return std::int64_t{a > b}; }, true},
    {"GreaterOrEqual", [](double a, double b) { return static_cast<double>(a >= b); },
     [](std::int64_t a, std::int64_t b) { return std::int64_t{a >= b}; }, true},
    {"Less", [](double a, double b) { return static_cast<double>(a < b); },
     [](std::int64_t a, std::int64_t b) { return std::int64_t{a < b}; }, true},
    {"LessOrEqual", [](double a, double b) { return static_cast<double>(a <= b); },
     [](std::int64_t a, std::int64_t b) { return std::int64_t{a <= b}; }, true},
    {"And", nullptr, [](std::int64_t a, std::int64_t b) { return a & b; }, true},
    {"Or", nullptr, [](std::int64_t a, std::int64_t b) { return a | b; }, true},
    {"Xor", nullptr, [](std::int64_t a, std::int64_t b) { return a ^ b; }, true},
};

Results binary(const Call& call, const BinaryRule& rule) {
  const ConstantTensor& a = *call.input(0);
  if (call.inputs.size() == 1 && (rule.op == "Max" || rule.op == "Min"))
    return one(std::make_shared<ConstantTensor>(a));
  const ConstantTensor* b = call.input(1);
  if (!b || call.inputs.size() != 2 || a.spec.dtype != b->spec.dtype) return std::nullopt;
  if (!has_numbers(a)) return std::nullopt;
  const auto sizes = broadcast(a.spec.sizes, b->spec.sizes);
  if (!sizes) return std::nullopt;
  const DType dtype = rule.gives_truth ? DType::boolean : a.spec.dtype;
  if (is_floating_point(a.spec.dtype)) {
    if (!rule.reals) return std::nullopt;
    const auto values = paired<double>(a, *b, *sizes, call.most_elements, rule.reals);
    return values ? one(made(dtype, *sizes, *values)) : std::nullopt;
  }
  if (!rule.integers) return std::nullopt;
  if (rule.op == "Div")
    for (const std::int64_t divisor : integers_of(*b))
      if (divisor == 0) return std::nullopt;
  const auto values = paired<std::int64_t>(a, *b, *sizes, call.most_elements, rule.integers);
  return values ? one(make_integers(*sizes, *values, dtype)) : std::nullopt;
}

struct UnaryRule {
  std::string_view op;
  double (*reals)(double);
  std::int64_t (*integers)(std::int64_t) = nullptr;
};

constexpr UnaryRule unary_rules[] = {
    {"Neg", [](double a) { return -a; },
     [](std::int64_t a) { return wrapped(-static_cast<std::uint64_t>(a)); }},
    {"Abs", [](double a) { return std::fabs(a); },
     [](std::int64_t a) { return a < 0 ? wrapped(-static_cast<std::uint64_t>(a)) : a; }},
    {"Not", nullptr, [](std::int64_t a) { return std::int64_t{a == 0}; }},
    {"Sqrt", [](double a) { return std::sqrt(a); }},
    {"Reciprocal", [](double a) { return 1 / a; }},
    {"Exp", [](double a) { return std::exp(a); }},
    {"Log", [](double a) { return std::log(a); }},
    {"Cos", [](double a) { return std::cos(a); }},
    {"Sin", [](double a) { return std::sin(a); }},
    {"Tanh", [](double a) { return std::tanh(a); }},
    {"Floor", [](double a) { return std::floor(a); }},
    {"Ceil", [](double a) { return std::ceil(a); }},
};

Results unary(const Call& call, const UnaryRule& rule) {
  const ConstantTensor& a = *call.input(0);
  if (!has_numbers(a)) return std::nullopt;
  if (!is_floating_point(a.spec.dtype)) {
    if (!rule.integers) return std::nullopt;
    Sizes values = integers_of(a);
    for (std::int64_t& value : values) value = rule.integers(value);
    return one(make_integers(a.spec.sizes, values, a.spec.dtype));
  }
  if (!rule.reals) return std::nullopt;
  std::vector<double> values = reals_of(a);
  for (double& value : values) value = rule.reals(value);
  return one(made(a.spec.dtype, a.spec.sizes, values));
}

Results where(const Call& call) {
  const ConstantTensor &truth = *call.input(0), &yes = *call.input(1), &no = *call.input(2);
  if (yes.spec.dtype != no.spec.dtype) return std::nullopt;
  const auto pair = broadcast(yes.spec.sizes, no.spec.sizes);
  const auto sizes = pair ? broadcast(*pair, truth.spec.sizes) : std::nullopt;
  if (!sizes) return std::nullopt;
  const Results choice = expanded(truth, *sizes, call.most_elements),
                a = expanded(yes, *sizes, call.most_elements),
                b = expanded(no, *sizes, call.most_elements);
  if (!choice || !a || !b) return std::nullopt;
  auto out = std::make_shared<ConstantTensor>(*b->front());
  const auto width = static_cast<std::size_t>(element_bytes(out->spec.dtype));
  const Sizes chosen = integers_of(*choice->front());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0)
      std::memcpy(out->data.data() + i * width, a->front()->data.data() + i * width, width);
  return one(out);
}

Results range(const Call& call) {
  const DType dtype = call.input(0)->spec.dtype;
  if (!call.input(1) || !call.input(2) || !has_numbers(*call.input(0))) return std::nullopt;
  const double start = reals_of(*call.input(0)).at(0), limit = reals_of(*call.input(1)).at(0),
               step = reals_of(*call.input(2)).at(0);
  if (step == 0) return std::nullopt;
  const double count = std::max(0.0, std::ceil((limit - start) / step));
  if (!(count <= static_cast<double>(call.most_elements))) return std::nullopt;
  std::vector<double> values;
  for (double i = 0; i < count; ++i) values.push_back(start + i * step);
  const auto size = static_cast<std::int64_t>(values.size());
  return one(made(dtype, {size}, values));
}

Results shape(const Call& call) {
  const Sizes& own = call.input(0)->spec.sizes;
  const auto rank = static_cast<std::int64_t>(own.size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound(integer(call.node, "start", 0)),
                     end = std::max(start, bound(integer(call.node, "end", rank)));
  return one(make_integers({end - start}, {own.begin() + start, own.begin() + end}));
}

Results size(const Call& call) { return one(make_integers({}, {call.input(0)->spec.numel()})); }

Results identity(const Call& call) { return one(std::make_shared<ConstantTensor>(*call.input(0))); }

struct Evaluation {
  std::string_view op;
  std::size_t inputs;  ///< That must be there.
  Results (*evaluate)(const Call& call);
};

constexpr Evaluation evaluations[] = {
    {"Cast", 1, cast},           {"CastLike", 2, cast_like},
    {"Concat", 1, concat},       {"ConstantOfShape", 1, constant_of_shape},
    {"Expand", 2, expand},       {"Gather", 2, gather},
    {"GatherND", 2, gather_nd},  {"Identity", 1, identity},
    {"Range", 3, range},         {"Reshape", 1, reshape},
    {"Shape", 1, shape},         {"Size", 1, size},
    {"Slice", 1, slice},         {"Squeeze", 1, squeeze},
    {"Transpose", 1, transpose}, {"Trilu", 1, trilu},
    {"Unsqueeze", 1, unsqueeze}, {"Where", 3, where},
};

}  // namespace

std::optional<std::vector<ConstantPointer>> evaluate(const onnx::NodeProto& node,
                                                     const std::vector<ConstantPointer>& inputs,
                                                     std::int64_t most_elements) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return std::nullopt;
  if (inputs.empty() || !inputs.front()) return std::nullopt;
  const Call call{node, inputs, most_elements};
  for (const Evaluation& rule : evaluations) {
    if (rule.op != node.op_type()) continue;
    for (std::size_t i = 0; i < rule.inputs; ++i)
      if (!call.input(i)) return std::nullopt;
    return rule.evaluate(call);
  }
  for (const BinaryRule& rule : binary_rules)
    if (rule.op == node.op_type()) return binary(call, rule);
  for (const UnaryRule& rule : unary_rules)
    if (rule.op == node.op_type()) return unary(call, rule);
  return std::nullopt;
}

}  // namespace symprof::workbench
