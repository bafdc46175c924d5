// before                                          after
//   y = BatchNormalization(Conv(x, w, b), …)        y = Conv(x, w', b'), in inference
//   y = BatchNormalization(Gemm(x, w, b), …)        y = Gemm(x, w', b')
//   y = Add(Conv(x, w, b), c), c of one number      y = Conv(x, w, b + c)
//       for each channel
//   y = Mul(Conv(x, w, b), c)                       y = Conv(x, c w, c b)
//   y = Conv(Pad(x, zeros beside the image), w)     y = Conv(x, w, pads=…)
//   y = MaxPool(Pad(x, -infinities)), AveragePool(  y = MaxPool(x, pads=…), AveragePool(x, pads=…)
//       Pad(x, zeros)) that counts them
//   y = Add(MatMul(x, w), b), of two dimensions     y = Gemm(x, w, b)
// ConvTranspose as Conv, where it has one group.
#include <algorithm>
#include <cmath>
#include <limits>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// y = scale · x + shift, per channel.
struct Affine {
  std::vector<double> scale, shift;
};

/// A convolution or a Gemm with available weights, whose result has a single reader.
struct Layer {
  int node = -1;
  ConstantPointer weight, bias;
  std::int64_t channels = 0;
  std::size_t axis = 0;  ///< The channels' axis in the weight.
};

bool is_convolution(const Editor& editor, int node) {
  return editor.is(node, "Conv") ||
         (editor.is(node, "ConvTranspose") && integer(editor.node(node), "group", 1) == 1);
}

std::optional<Layer> layer_before(const Editor& editor, const std::string& value) {
  Layer layer{editor.maker(value)};
  const bool is_gemm = editor.is(layer.node, "Gemm");
  if ((!is_gemm && !is_convolution(editor, layer.node)) || !editor.is_private(value))
    return std::nullopt;
  const onnx::NodeProto& node = editor.node(layer.node);
  layer.weight = editor.constant(node.input(1));
  const bool has_bias = node.input_size() > 2 && !node.input(2).empty();
  if (has_bias) layer.bias = editor.constant(node.input(2));
  if (!layer.weight || layer.weight->spec.sizes.size() < 2 || (has_bias && !layer.bias))
    return std::nullopt;
  if (is_gemm && (real(node, "alpha", 1) != 1 || real(node, "beta", 1) != 1)) return std::nullopt;
  layer.axis = is_gemm ? integer(node, "transB", 0) == 0 : !editor.is(layer.node, "Conv");
  layer.channels = layer.weight->spec.sizes[layer.axis];
  if (layer.bias && layer.bias->spec.numel() != layer.channels) return std::nullopt;
  return layer;
}

/// Folds `affine` into the weights of `layer`, whose node then produces the output of `node`.
bool absorb(Editor& editor, int node, const Layer& layer, const Affine& affine) {
  std::vector<double> values = reals_of(*layer.weight);
  const auto channels = static_cast<std::size_t>(layer.channels);
  std::vector<double> shift = layer.bias ? reals_of(*layer.bias) : std::vector<double>(channels);
  std::size_t inner = 1;  // Consecutive elements of one channel.
  for (std::size_t i = layer.axis + 1; i < layer.weight->spec.sizes.size(); ++i)
    inner *= static_cast<std::size_t>(layer.weight->spec.sizes[i]);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= affine.scale[i / inner % channels];
  for (std::size_t c = 0; c < channels; ++c)
    shift[c] = shift[c] * affine.scale[c] + affine.shift[c];
  const DType dtype = layer.weight->spec.dtype;
  const ConstantPointer weight = make_constant(dtype, layer.weight->spec.sizes, values),
                        bias = make_constant(dtype, {layer.channels}, shift);
  if (!weight || !bias) return false;
  onnx::NodeProto made = editor.node(layer.node);
  const std::string weight_name = made.input(1);
  const std::string bias_name = layer.bias ? made.input(2) : weight_name + "_bias";
  while (made.input_size() < 3) made.add_input("");
  made.set_input(1, editor.add_constant(weight, weight_name + "_folded"));
  made.set_input(2, editor.add_constant(bias, bias_name + "_folded"));
  made.set_output(0, editor.node(node).output(0));
  editor.remove(node);
  editor.remove(layer.node);
  editor.add(made, layer.node);
  return true;
}

}  // namespace

bool norm_into_conv(Editor& editor, int node) {
  if (!editor.is(node, "BatchNormalization") || editor.node(node).input_size() != 5) return false;
  const onnx::NodeProto& norm = editor.node(node);
  if (integer(norm, "training_mode", 0) != 0 || norm.output_size() != 1) return false;
  const auto layer = layer_before(editor, norm.input(0));
  if (!layer) return false;
  std::vector<std::vector<double>> parts;  // Scale, bias, mean, variance.
  for (int i = 1; i < 5; ++i) {
    const ConstantPointer part = editor.constant(norm.input(i));
    if (!part || part->spec.numel() != layer->channels) return false;
    parts.push_back(reals_of(*part));
  }
  const double epsilon = real(norm, "epsilon", 1e-5F);
  Affine affine;
  for (std::size_t c = 0; c < static_cast<std::size_t>(layer->channels); ++c) {
    affine.scale.push_back(parts[0][c] / std::sqrt(parts[3][c] + epsilon));
    affine.shift.push_back(parts[1][c] - parts[2][c] * affine.scale.back());
  }
  return absorb(editor, node, *layer, affine);
}

namespace {

bool affine_into_conv(Editor& editor, int node, bool scales) {
  const onnx::NodeProto& proto = editor.node(node);
  for (const int side : {0, 1}) {
    if (!is_convolution(editor, editor.maker(proto.input(side)))) continue;
    const auto layer = layer_before(editor, proto.input(side));
    if (!layer || layer->weight->spec.sizes.size() < 3) continue;
    const auto numbers = by_channel(editor, proto.input(1 - side), layer->weight->spec.sizes.size(),
                                    layer->channels);
    if (numbers.empty()) continue;
    const std::vector<double> neutral(numbers.size(), scales ? 0 : 1);
    return absorb(editor, node, *layer,
                  scales ? Affine{numbers, neutral} : Affine{neutral, numbers});
  }
  return false;
}

}  // namespace

bool sum_into_conv(Editor& editor, int node) {
  return editor.is(node, "Add") && affine_into_conv(editor, node, false);
}

bool scale_into_conv(Editor& editor, int node) {
  return editor.is(node, "Mul") && affine_into_conv(editor, node, true);
}

namespace {

/// The Pad before `node`, a window over an image, that only adds `wanted`; else -1.
int pad_before(const Editor& editor, int node, double wanted) {
  const onnx::NodeProto& window = editor.node(node);
  const int pad = private_maker(editor, window.input(0), "Pad");
  const auto* automatic = find_attribute(window, "auto_pad");
  if (pad < 0 || (automatic && automatic->s() != "NOTSET")) return -1;
  const onnx::NodeProto& old = editor.node(pad);
  const auto* mode = find_attribute(old, "mode");
  const bool has_value = old.input_size() > 2 && !old.input(2).empty();
  const auto value = has_value ? editor.number(old.input(2)) : 0.0;
  return (!mode || mode->s() == "constant") && value == wanted && old.input_size() <= 3 ? pad : -1;
}

/// The pads of a window over the image that `pad` pads, plus those of the window itself; empty if
/// `pad` pads other axes.
std::vector<std::int64_t> pads_of_both(const Editor& editor, int pad,
                                       const onnx::NodeProto& window) {
  constexpr std::int64_t widest = 1 << 20;
  const ConstantPointer widths = editor.constant(editor.node(pad).input(1));
  const std::size_t rank = rank_of(editor, editor.node(pad).input(0));
  if (!widths || rank < 3) return {};
  const auto added = integers_of(*widths);
  auto pads = integers(window, "pads");
  if (pads.empty()) pads.assign(2 * (rank - 2), 0);
  if (added.size() != 2 * rank || pads.size() != 2 * (rank - 2)) return {};
  for (std::size_t i = 0; i < 2 * rank; ++i) {
    const std::size_t axis = i % rank;
    if (added[i] < 0 || added[i] > widest || (axis < 2 && added[i] != 0)) return {};
    if (axis >= 2) pads[(i < rank ? 0 : rank - 2) + axis - 2] += added[i];
  }
  return pads;
}

/// Moves the padding of `pad` into `made`, which replaces `node`.
void absorb_pad(Editor& editor, int node, int pad, onnx::NodeProto made,
                const std::vector<std::int64_t>& pads) {
  set_integers(made, "pads", pads);
  made.set_input(0, editor.node(pad).input(0));
  editor.remove(node);
  editor.remove(pad);
  editor.add(std::move(made), node);
}

/// True if each window is longer than the padding: no window lies in the padding alone, and ONNX
/// Runtime accepts the pads.
bool are_windows_longer(const onnx::NodeProto& pool, const std::vector<std::int64_t>& pads) {
  const auto kernel = integers(pool, "kernel_shape");
  for (std::size_t i = 0; i < pads.size() && !kernel.empty(); ++i)
    if (pads[i] >= kernel[i % kernel.size()]) return false;
  return !kernel.empty();
}

}  // namespace

bool pad_into_conv(Editor& editor, int node) {
  if (!editor.is(node, "Conv") || editor.opset() < 11) return false;
  const int pad = pad_before(editor, node, 0);
  if (pad < 0) return false;
  const onnx::NodeProto conv = editor.node(node);
  const auto pads = pads_of_both(editor, pad, conv);
  if (!pads.empty()) absorb_pad(editor, node, pad, conv, pads);
  return !pads.empty();
}

bool pad_into_pool(Editor& editor, int node) {
  const bool takes_most = editor.is(node, "MaxPool");
  if ((!takes_most && !editor.is(node, "AveragePool")) || editor.opset() < 11) return false;
  onnx::NodeProto pool = editor.node(node);
  const auto own = integers(pool, "pads");
  // An average includes the elements of a Pad; the pooling's own padding must be included too.
  const bool counts = integer(pool, "count_include_pad", 0) != 0 ||
                      std::all_of(own.begin(), own.end(), [](auto width) { return width == 0; });
  if (pool.output_size() != 1 || integer(pool, "ceil_mode", 0) != 0 || (!takes_most && !counts))
    return false;
  const int pad =
      pad_before(editor, node, takes_most ? -std::numeric_limits<double>::infinity() : 0);
  const auto pads = pad < 0 ? own : pads_of_both(editor, pad, pool);
  if (pad < 0 || pads.empty() || !are_windows_longer(pool, pads)) return false;
  if (!takes_most) set_integer(pool, "count_include_pad", 1);
  absorb_pad(editor, node, pad, std::move(pool), pads);
  return true;
}

bool sum_into_gemm(Editor& editor, int node) {
  if (!editor.is(node, "Add") || editor.opset() < 11) return false;
  const onnx::NodeProto sum = editor.node(node);
  for (const int side : {0, 1}) {
    const std::string &product = sum.input(side), &bias = sum.input(1 - side);
    const int before = editor.maker(product);
    const bool is_gemm = editor.is(before, "Gemm") && editor.node(before).input_size() == 2;
    if ((!is_gemm && !editor.is(before, "MatMul")) || !editor.is_private(product)) continue;
    const onnx::NodeProto& old = editor.node(before);
    const Type type = editor.type(product), own = editor.type(bias);
    if (!is_float(editor, product) || !type.same(editor.type(sum.output(0))) || !own.sizes ||
        own.sizes->size() > 2 || rank_of(editor, product) != 2 ||
        rank_of(editor, old.input(0)) != 2 || rank_of(editor, old.input(1)) != 2)
      continue;
    onnx::NodeProto made = node_of("Gemm");
    *made.mutable_attribute() = old.attribute();
    for (const std::string& input : {old.input(0), old.input(1), bias}) made.add_input(input);
    made.add_output(sum.output(0));
    editor.remove(node);
    editor.remove(before);
    editor.add(made, before);
    return true;
  }
  return false;
}

}  // namespace symprof::workbench::rules
