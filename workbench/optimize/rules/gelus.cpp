// before                                                    after
//   y = Mul(Mul(x, Add(Erf(Div(x, sqrt(2))), 1)), 0.5)        y = Gelu(x), from opset 20 on; before
//                                                             that of com.microsoft
//   y = 0.5 x (1 + Tanh(sqrt(2/pi) (x + 0.044715 x^3)))       y = Gelu(x, approximate="tanh");
//                                                             com.microsoft: FastGelu
//   y = Gelu(Add(x, b)), b of the last axis                   y = BiasGelu(x, b), com.microsoft
//   y = Mul(x, Sigmoid(x))                                    y = QuickGelu(x, alpha=1), likewise
//   y = Mul(x, Sigmoid(Mul(x, 1.702)))                        y = QuickGelu(x, alpha=1.702)
//   y = Div(Clip(Add(x, 3), 0, 6), 6)                         y = HardSigmoid(x, alpha=1/6)
//   y = Mul(x, HardSigmoid(x, 1/6, 0.5))                      y = HardSwish(x), from opset 14 on
//   y = Where(Greater(x, 0), x, Mul(x, a))                    y = LeakyRelu(x, alpha=a)
#include <numbers>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// Factors of a product tree without other readers; numbers separate from values.
struct Product {
  std::vector<std::string> values;
  double number = 1;
  int nodes = 0;
};

void factor(const Editor& editor, const std::string& value, bool root, Product& product) {
  const int node = editor.maker(value);
  const bool inside = root || editor.is_private(value);
  if (editor.is(node, "Mul") && inside && product.nodes < 4) {
    ++product.nodes;
    for (const std::string& input : editor.node(node).input())
      factor(editor, input, false, product);
  } else if (editor.is(node, "Div") && inside && editor.number(editor.node(node).input(1))) {
    ++product.nodes;
    product.number /= *editor.number(editor.node(node).input(1));
    factor(editor, editor.node(node).input(0), false, product);
  } else if (const auto number = editor.number(value)) {
    product.number *= *number;
  } else {
    product.values.push_back(value);
  }
}

Product product_of(const Editor& editor, const std::string& value) {
  Product product;
  factor(editor, value, true, product);
  return product;
}

/// The other operand of an Add(…, 1) with a single reader.
std::string beside_one(const Editor& editor, const std::string& value) {
  const int sum = private_maker(editor, value, "Add");
  const auto operand = with_number(editor, sum);
  return operand && is_near(operand->number, 1) && editor.is_private(operand->value)
             ? operand->value
             : std::string();
}

/// The x of Erf(x / sqrt(2)) + 1.
std::string error_sum_of(const Editor& editor, const std::string& value) {
  const int erf = editor.maker(beside_one(editor, value));
  if (!editor.is(erf, "Erf")) return {};
  const Product scaled = product_of(editor, editor.node(erf).input(0));
  return scaled.values.size() == 1 && is_near(scaled.number, std::numbers::sqrt2 / 2)
             ? scaled.values[0]
             : std::string();
}

/// True if `value` is x³.
bool is_cube(const Editor& editor, const std::string& value, const std::string& x) {
  const int node = editor.maker(value);
  if (editor.is(node, "Pow"))
    return editor.node(node).input(0) == x && editor.number(editor.node(node).input(1)) == 3.0;
  const Product product = product_of(editor, value);
  return product.number == 1 && product.values == std::vector<std::string>{x, x, x};
}

/// The x of Tanh(sqrt(2/pi) (x + 0.044715 x³)) + 1.
std::string tanh_sum_of(const Editor& editor, const std::string& value) {
  const int tanh = editor.maker(beside_one(editor, value));
  if (!editor.is(tanh, "Tanh")) return {};
  const Product scaled = product_of(editor, editor.node(tanh).input(0));
  if (scaled.values.size() != 1 || !is_near(scaled.number, std::sqrt(2 / std::numbers::pi)))
    return {};
  const int sum = private_maker(editor, scaled.values[0], "Add");
  if (sum < 0) return {};
  for (const int side : {0, 1}) {
    std::string x = editor.node(sum).input(side);
    Product cubic = product_of(editor, editor.node(sum).input(1 - side));
    if (!is_near(cubic.number, 0.044715)) continue;
    const bool is_product = cubic.values == std::vector<std::string>{x, x, x};
    if (is_product || (cubic.values.size() == 1 && is_cube(editor, cubic.values[0], x))) return x;
  }
  return {};
}

using SumOf = std::string (*)(const Editor&, const std::string&);

/// The x of a node 0.5 x (sum), where `sum_of` recognizes the sum of x; else empty.
std::string gelu_operand(const Editor& editor, int node, SumOf sum_of) {
  if (!editor.is(node, "Mul") && !editor.is(node, "Div")) return {};
  const Product product = product_of(editor, editor.node(node).output(0));
  if (product.values.size() != 2 || !is_near(product.number, 0.5)) return {};
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    if (std::string x = product.values[side]; sum_of(editor, product.values[1 - side]) == x)
      return x;
  return {};
}

bool is_narrow_float(const Editor& editor, const std::string& value) {
  const auto dtype = editor.type(value).dtype();
  return dtype == DType::float32 || dtype == DType::float16;
}

}  // namespace

bool gelu(Editor& editor, int node) {
  if (editor.opset() < 20) return false;
  const std::string x = gelu_operand(editor, node, error_sum_of);
  if (x.empty()) return false;
  become(editor, node, node_of("Gelu"), {x});
  return true;
}

bool gelu_of_tanh(Editor& editor, int node) {
  if (editor.opset() < 20) return false;
  const std::string x = gelu_operand(editor, node, tanh_sum_of);
  if (x.empty()) return false;
  onnx::NodeProto made = node_of("Gelu");
  set_text(made, "approximate", "tanh");
  become(editor, node, std::move(made), {x});
  return true;
}

bool contrib_gelu(Editor& editor, int node) {
  const std::pair<SumOf, const char*> kinds[] = {{error_sum_of, "Gelu"}, {tanh_sum_of, "FastGelu"}};
  for (const auto& [sum_of, op] : kinds) {
    const std::string x = gelu_operand(editor, node, sum_of);
    if (x.empty() || !is_narrow_float(editor, x)) continue;
    become(editor, node, node_of(op, contrib_domain), {x});
    return true;
  }
  return false;
}

bool bias_gelu(Editor& editor, int node) {
  const bool is_contrib = editor.node(node).domain() == contrib_domain;
  const bool is_own = editor.is(node, "Gelu");
  if (!is_own && !(is_contrib && editor.node(node).op_type() == "Gelu")) return false;
  const auto* approximate = find_attribute(editor.node(node), "approximate");
  if (approximate && approximate->s() != "none") return false;
  const int sum = private_maker(editor, editor.node(node).input(0), "Add");
  if (sum < 0) return false;
  for (const int side : {0, 1}) {
    const std::string x = editor.node(sum).input(side), bias = editor.node(sum).input(1 - side);
    const Type type = editor.type(x), own = editor.type(bias);
    if (!is_narrow_float(editor, x) || !own.sizes || own.sizes->size() != 1 || !type.sizes ||
        type.sizes->empty() || !own.sizes->front().same(type.sizes->back()))
      continue;
    become(editor, node, node_of("BiasGelu", contrib_domain), {x, bias});
    return true;
  }
  return false;
}

bool quick_gelu(Editor& editor, int node) {
  if (!editor.is(node, "Mul")) return false;
  for (const int side : {0, 1}) {
    const std::string source = editor.node(node).input(1 - side);
    const int sigmoid = private_maker(editor, editor.node(node).input(side), "Sigmoid");
    if (sigmoid < 0 || !is_narrow_float(editor, source)) continue;
    double alpha = 1;
    const std::string gate = editor.node(sigmoid).input(0);
    if (gate != source) {
      const Product scaled = product_of(editor, gate);
      if (!editor.is_private(gate) || scaled.values != std::vector<std::string>{source}) continue;
      alpha = scaled.number;
    }
    onnx::NodeProto made = node_of("QuickGelu", contrib_domain);
    set_real(made, "alpha", static_cast<float>(alpha));
    become(editor, node, std::move(made), {source});
    return true;
  }
  return false;
}

bool hard_sigmoid(Editor& editor, int node) {
  if (!editor.is(node, "Div") && !editor.is(node, "Mul")) return false;
  const Product scaled = product_of(editor, editor.node(node).output(0));
  if (scaled.values.size() != 1 || !is_near(scaled.number, 1.0 / 6)) return false;
  const int clip = private_maker(editor, scaled.values[0], "Clip");
  if (clip < 0 || editor.node(clip).input_size() != 3 ||
      editor.number(editor.node(clip).input(1)) != 0.0 ||
      editor.number(editor.node(clip).input(2)) != 6.0)
    return false;
  const auto sum = with_number(editor, private_maker(editor, editor.node(clip).input(0), "Add"));
  if (!sum || sum->number != 3 || !is_float(editor, sum->value) ||
      !editor.type(sum->value).same(editor.type(editor.node(node).output(0))))
    return false;
  onnx::NodeProto made = node_of("HardSigmoid");
  set_real(made, "alpha", static_cast<float>(1.0 / 6));
  set_real(made, "beta", 0.5F);
  become(editor, node, std::move(made), {sum->value});
  return true;
}

bool hard_swish(Editor& editor, int node) {
  if (!editor.is(node, "Mul") || editor.opset() < 14) return false;
  for (const int side : {0, 1}) {
    const std::string x = editor.node(node).input(1 - side);
    const int gate = private_maker(editor, editor.node(node).input(side), "HardSigmoid");
    if (gate < 0 || editor.node(gate).input(0) != x ||
        !is_near(real(editor.node(gate), "alpha", 0.2F), 1.0 / 6) ||
        !is_near(real(editor.node(gate), "beta", 0.5F), 0.5))
      continue;
    become(editor, node, node_of("HardSwish"), {x});
    return true;
  }
  return false;
}

bool leaky_relu(Editor& editor, int node) {
  if (!editor.is(node, "Where")) return false;
  const onnx::NodeProto& where = editor.node(node);
  const std::string x = where.input(1);
  const int test = private_maker(editor, where.input(0), "Greater");
  const auto slope = with_number(editor, private_maker(editor, where.input(2), "Mul"));
  if (test < 0 || !slope || slope->value != x || editor.node(test).input(0) != x ||
      editor.number(editor.node(test).input(1)) != 0.0 || !is_float(editor, x) ||
      !editor.type(x).same(editor.type(where.output(0))))
    return false;
  onnx::NodeProto made = node_of("LeakyRelu");
  set_real(made, "alpha", static_cast<float>(slope->number));
  become(editor, node, std::move(made), {x});
  return true;
}

}  // namespace symprof::workbench::rules
