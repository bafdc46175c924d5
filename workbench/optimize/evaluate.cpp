#include "workbench/optimize/evaluate.h"

#include "workbench/optimize/evaluation.h"
#include "workbench/types.h"

namespace symprof::workbench {

std::optional<std::vector<ConstantPointer>> evaluate(const onnx::NodeProto& node,
                                                     const std::vector<ConstantPointer>& inputs,
                                                     std::int64_t most_elements) {
  if (!plain_domain(node.domain()).empty() || inputs.empty() || !inputs.front())
    return std::nullopt;
  const evaluation::Call call{node, inputs, most_elements};
  const evaluation::Evaluation* move = evaluation::find_move(node.op_type());
  if (!move) return evaluation::arithmetic(call);
  for (std::size_t i = 0; i < move->inputs; ++i)
    if (!call.input(i)) return std::nullopt;
  return move->evaluate(call);
}

}  // namespace symprof::workbench
