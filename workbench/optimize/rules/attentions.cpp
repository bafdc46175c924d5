// before                                                          after
//   s = MatMul(q, Transpose(k)), perhaps scaled by numbers
//   y = MatMul(Softmax(Add(s, mask)), v)                          y = Attention(q, k, v, mask),
//                                                                 from opset 23 on
//   … Where(masked, -inf, s) …                                    … Not(masked)
//   … k = Reshape(Expand(Unsqueeze(k', 2))), v likewise           y = Attention(q, k', v', mask)
// For a query whose keys are all masked by -inf, the operator gives 0, and its parts give NaN.
#include "workbench/optimize/patterns.h"
#include "workbench/optimize/rule.h"
#include "workbench/optimize/rules/attention_parts.h"

namespace symprof::workbench::rules {
namespace {

/// The mask for ONNX's operator: booleans that are true where a key counts, or numbers.
std::string standard_mask(Editor& editor, int node, const AttentionParts& parts) {
  using Mask = AttentionParts::Mask;
  if (parts.mask_is != Mask::hidden) return parts.mask;
  const auto numbers = mask_numbers(editor, parts.mask);
  if (!numbers.empty()) {
    std::vector<std::int64_t> seen;
    seen.reserve(numbers.size());
    for (const double hidden : numbers) seen.push_back(hidden == 0);
    return editor.add_constant(
        make_integers(editor.type(parts.mask).numbers(), seen, DType::boolean),
        parts.mask + "_seen");
  }
  onnx::NodeProto made = node_of("Not");
  made.add_input(parts.mask);
  made.add_output(editor.fresh(parts.mask + "_seen"));
  std::string name = made.output(0);
  editor.add(std::move(made), node, editor.type(parts.mask));
  return name;
}

}  // namespace

bool attention(Editor& editor, int node) {
  if (editor.opset() < 23) return false;
  auto parts = attention_parts(editor, node);
  if (!parts || parts->scale <= 0) return false;
  std::string k = keys_of(editor, node, *parts), v = parts->v;
  const std::string few_keys = ungrouped(editor, k), few_values = ungrouped(editor, v);
  if (!few_keys.empty() && !few_values.empty()) k = few_keys, v = few_values;
  std::vector<std::string> inputs{parts->q, k, v};
  if (!parts->mask.empty()) inputs.push_back(standard_mask(editor, node, *parts));
  onnx::NodeProto made = node_of("Attention");
  set_real(made, "scale", static_cast<float>(parts->scale));
  if (parts->key_order.size() == 3) {
    set_integer(made, "q_num_heads", 1);
    set_integer(made, "kv_num_heads", 1);
  }
  become(editor, node, std::move(made), inputs);
  return true;
}

}  // namespace symprof::workbench::rules
