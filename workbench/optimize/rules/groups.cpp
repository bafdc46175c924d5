// before                                               after
//   g = Reshape(x, [batch, groups, rest])
//   y = Reshape(InstanceNormalization(g, s, b), …)     y = GroupNormalization(x, s', b'), with
//                                                      s and b per channel; from opset 21 on
//   y = Mul(GroupNormalization(x, s, b), c), c of      y = GroupNormalization(x, c s, c b)
//       one number for each channel
//   y = Add(GroupNormalization(x, s, b), c)            y = GroupNormalization(x, s, b + c)
#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"

namespace symprof::workbench::rules {
namespace {

/// Repeats one number per group for each of its channels; empty unless there is one per group.
std::vector<double> spread(const Editor& editor, const std::string& value, std::int64_t groups,
                           std::int64_t channels) {
  const ConstantPointer constant = editor.constant(value);
  if (!constant || constant->spec.numel() != groups) return {};
  std::vector<double> all;
  for (const double number : reals_of(*constant))
    all.insert(all.end(), static_cast<std::size_t>(channels / groups), number);
  return all;
}

struct Groups {
  std::string of;
  std::int64_t count = 0, channels = 0;
};

/// The operand of `value`, whose channels are in groups: [batch, groups, rest].
std::optional<Groups> groups_in(const Editor& editor, const std::string& value) {
  const int reshape = private_maker(editor, value, "Reshape");
  if (reshape < 0) return std::nullopt;
  const std::string& source = editor.node(reshape).input(0);
  const Type from = editor.type(source), to = editor.type(value);
  if (!from.sizes || !to.sizes || from.sizes->size() < 3 || to.sizes->size() < 3)
    return std::nullopt;
  const Size &channels = (*from.sizes)[1], &groups = (*to.sizes)[1];
  const bool are_groups = (*from.sizes)[0].same((*to.sizes)[0]) && channels.is_known() &&
                          groups.number > 0 && channels.number % groups.number == 0;
  return are_groups ? std::optional(Groups{source, groups.number, channels.number}) : std::nullopt;
}

}  // namespace

bool group_norm(Editor& editor, int node) {
  if (!editor.is(node, "Reshape") || editor.opset() < 21) return false;
  const int norm = private_maker(editor, editor.node(node).input(0), "InstanceNormalization");
  if (norm < 0) return false;
  const onnx::NodeProto& proto = editor.node(norm);
  const auto groups = groups_in(editor, proto.input(0));
  if (!groups || !editor.type(groups->of).same(editor.type(editor.node(node).output(0))))
    return false;
  const auto scale = spread(editor, proto.input(1), groups->count, groups->channels),
             bias = spread(editor, proto.input(2), groups->count, groups->channels);
  const DType dtype = editor.type(groups->of).dtype().value_or(DType::float32);
  const ConstantPointer scales = make_constant(dtype, {groups->channels}, scale),
                        biases = make_constant(dtype, {groups->channels}, bias);
  if (scale.empty() || bias.empty() || !scales || !biases) return false;
  onnx::NodeProto made = node_of("GroupNormalization");
  set_integer(made, "num_groups", groups->count);
  set_real(made, "epsilon", real(proto, "epsilon", 1e-5F));
  const std::string y = editor.node(node).output(0);
  become(editor, node, std::move(made),
         {groups->of, editor.add_constant(scales, y + "_scale"),
          editor.add_constant(biases, y + "_bias")});
  return true;
}

bool into_group_norm(Editor& editor, int node) {
  const bool scales = editor.is(node, "Mul");
  if ((!scales && !editor.is(node, "Add")) || editor.opset() < 21) return false;
  for (const int side : {0, 1}) {
    const onnx::NodeProto& proto = editor.node(node);
    const int norm = private_maker(editor, proto.input(side), "GroupNormalization");
    if (norm < 0) continue;
    onnx::NodeProto made = editor.node(norm);
    const ConstantPointer scale = editor.constant(made.input(1)),
                          bias = editor.constant(made.input(2));
    if (!scale || !bias) continue;
    auto scale_numbers = reals_of(*scale), bias_numbers = reals_of(*bias);
    const auto numbers = by_channel(editor, proto.input(1 - side), rank_of(editor, made.input(0)),
                                    scale->spec.numel());
    if (numbers.empty() || bias_numbers.size() != numbers.size()) continue;
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      if (scales) scale_numbers[c] *= numbers[c];
      bias_numbers[c] = scales ? bias_numbers[c] * numbers[c] : bias_numbers[c] + numbers[c];
    }
    const DType dtype = scale->spec.dtype;
    const ConstantPointer new_scale = make_constant(dtype, scale->spec.sizes, scale_numbers),
                          new_bias = make_constant(dtype, bias->spec.sizes, bias_numbers);
    if (!new_scale || !new_bias) continue;
    const std::string y = proto.output(0);
    made.set_input(1, editor.add_constant(new_scale, y + "_scale"));
    made.set_input(2, editor.add_constant(new_bias, y + "_bias"));
    made.set_output(0, y);
    editor.remove(node);
    editor.remove(norm);
    editor.add(std::move(made), norm);
    return true;
  }
  return false;
}

}  // namespace symprof::workbench::rules
