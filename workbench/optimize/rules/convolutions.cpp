// before                                          after
//   y = BatchNormalization(Conv(x, w, b), …)        y = Conv(x, w', b'), where nothing is trained
//   y = BatchNormalization(Gemm(x, w, b), …)        y = Gemm(x, w', b')
//   y = Add(Conv(x, w, b), c), c of one number      y = Conv(x, w, b + c)
//       for each channel
//   y = Mul(Conv(x, w, b), c)                       y = Conv(x, c w, c b)
//   y = Conv(Pad(x, zeros beside the image), w)     y = Conv(x, w, pads=…)
//   y = Add(MatMul(x, w), b), of two dimensions     y = Gemm(x, w, b)
#include <cmath>

#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// y = scale · x + shift, for each channel.
struct Affine {
  std::vector<double> scale, shift;
};

/// A Conv, or a Gemm with its weight as it is, whose weights are here and in nobody else's way.
struct Layer {
  int node = -1;
  ConstantPointer weight, bias;
  std::int64_t channels = 0;
  bool channels_first = true;  ///< Of the weight; a Gemm without transB has them last.
};

std::optional<Layer> layer_before(const Editor& editor, const std::string& value) {
  Layer layer{editor.maker(value)};
  const bool is_gemm = editor.is(layer.node, "Gemm");
  if ((!is_gemm && !editor.is(layer.node, "Conv")) || !editor.is_private(value))
    return std::nullopt;
  const onnx::NodeProto& node = editor.node(layer.node);
  layer.weight = editor.constant(node.input(1));
  const bool has_bias = node.input_size() > 2 && !node.input(2).empty();
  if (has_bias) layer.bias = editor.constant(node.input(2));
  if (!layer.weight || layer.weight->spec.sizes.empty() || (has_bias && !layer.bias))
    return std::nullopt;
  layer.channels = layer.weight->spec.sizes[0];
  if (is_gemm) {
    if (real(node, "alpha", 1) != 1 || real(node, "beta", 1) != 1) return std::nullopt;
    layer.channels_first = integer(node, "transB", 0) != 0;
    layer.channels = layer.weight->spec.sizes[layer.channels_first ? 0 : 1];
  }
  if (layer.bias && layer.bias->spec.numel() != layer.channels) return std::nullopt;
  return layer;
}

/// Puts `affine` into the weights of `layer`, whose node then makes what `node` made.
bool absorb(Editor& editor, int node, const Layer& layer, const Affine& affine) {
  std::vector<double> values = reals_of(*layer.weight);
  const auto channels = static_cast<std::size_t>(layer.channels);
  std::vector<double> shift = layer.bias ? reals_of(*layer.bias) : std::vector<double>(channels);
  const std::size_t inner = channels == 0 ? 0 : values.size() / channels;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] *= affine.scale[layer.channels_first ? i / inner : i % channels];
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

/// The numbers of a constant that has one for each of `channels`, at axis 1 of `rank`, or one for
/// all; empty for others.
std::vector<double> by_channel(const Editor& editor, const std::string& value, std::size_t rank,
                               std::int64_t channels) {
  const ConstantPointer constant = editor.constant(value);
  if (!constant || constant->spec.sizes.size() > rank || channels < 1) return {};
  const auto& sizes = constant->spec.sizes;
  const auto all = reals_of(*constant);
  if (all.size() == 1) return std::vector<double>(static_cast<std::size_t>(channels), all[0]);
  if (constant->spec.numel() != channels) return {};
  const std::size_t behind = rank - 2;  // Axes after the channels.
  if (sizes.size() <= behind || sizes[sizes.size() - 1 - behind] != channels) return {};
  return all;
}

bool affine_into_conv(Editor& editor, int node, bool scales) {
  const onnx::NodeProto& proto = editor.node(node);
  for (const int side : {0, 1}) {
    if (!editor.is(editor.maker(proto.input(side)), "Conv")) continue;
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

bool pad_into_conv(Editor& editor, int node) {
  if (!editor.is(node, "Conv") || editor.opset() < 11) return false;
  const onnx::NodeProto conv = editor.node(node);
  const int pad = private_maker(editor, conv.input(0), "Pad");
  const auto* automatic = find_attribute(conv, "auto_pad");
  if (pad < 0 || (automatic && automatic->s() != "NOTSET")) return false;
  const onnx::NodeProto old = editor.node(pad);
  const auto* mode = find_attribute(old, "mode");
  const bool has_value = old.input_size() > 2 && !old.input(2).empty();
  if ((mode && mode->s() != "constant") || (has_value && editor.number(old.input(2)) != 0.0) ||
      old.input_size() > 3)
    return false;
  const ConstantPointer widths = editor.constant(old.input(1));
  const std::size_t rank = rank_of(editor, old.input(0));
  if (!widths || rank < 3) return false;
  const auto added = integers_of(*widths);
  if (added.size() != 2 * rank) return false;
  auto pads = integers(conv, "pads");
  if (pads.empty()) pads.assign(2 * (rank - 2), 0);
  for (std::size_t i = 0; i < 2 * rank; ++i) {
    const std::size_t axis = i % rank;
    if (added[i] < 0 || (axis < 2 && added[i] != 0)) return false;
    if (axis >= 2) pads.at((i < rank ? 0 : rank - 2) + axis - 2) += added[i];
  }
  onnx::NodeProto made = conv;
  set_integers(made, "pads", pads);
  made.set_input(0, old.input(0));
  editor.remove(node);
  editor.remove(pad);
  editor.add(made, node);
  return true;
}

bool sum_into_gemm(Editor& editor, int node) {
  if (!editor.is(node, "Add") || editor.opset() < 11) return false;
  const onnx::NodeProto sum = editor.node(node);
  for (const int side : {0, 1}) {
    const std::string product = sum.input(side), bias = sum.input(1 - side);
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
