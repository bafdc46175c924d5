// Numeric operators: computed in double precision or 64 bits, rounded to their dtype.
#include <cmath>

#include "base/float8.h"
#include "trace/onnx/tensors.h"
#include "workbench/optimize/evaluation.h"

namespace symprof::workbench::evaluation {
namespace {

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
  // Overflow of eight-bit floats depends on a node's attribute `saturate`, which is not handled
  // here.
  if (!has_numbers(source) || is_float8(dtype)) return std::nullopt;
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

/// Broadcasts the operands of a binary operator to one shape.
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

Results range(const Call& call) {
  const DType dtype = call.input(0)->spec.dtype;
  if (!call.input(1) || !call.input(2) || !has_numbers(*call.input(0))) return std::nullopt;
  for (const ConstantPointer& input : call.inputs)
    if (!input || input->spec.numel() != 1 || input->spec.dtype != dtype) return std::nullopt;
  const double start = reals_of(*call.input(0)).front(), limit = reals_of(*call.input(1)).front(),
               step = reals_of(*call.input(2)).front();
  if (step == 0) return std::nullopt;
  const double count = std::max(0.0, std::ceil((limit - start) / step));
  if (!(count <= static_cast<double>(call.most_elements))) return std::nullopt;
  std::vector<double> values;
  for (double i = 0; i < count; ++i) values.push_back(start + i * step);
  const auto size = static_cast<std::int64_t>(values.size());
  return one(made(dtype, {size}, values));
}

}  // namespace

Results arithmetic(const Call& call) {
  const std::string_view op = call.node.op_type();
  if (op == "Cast") return cast(call);
  if (op == "CastLike") return call.input(1) ? cast_like(call) : std::nullopt;
  if (op == "Range") return range(call);
  for (const BinaryRule& rule : binary_rules)
    if (rule.op == op) return binary(call, rule);
  for (const UnaryRule& rule : unary_rules)
    if (rule.op == op) return unary(call, rule);
  return std::nullopt;
}

}  // namespace symprof::workbench::evaluation
