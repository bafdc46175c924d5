// The torch.export calls that nodes were generated from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace onnx {
class NodeProto;
}

namespace symprof::trace {

/// A call as the dynamo exporter writes it into its nodes' metadata ("pkg.torch.onnx.fx_node").
/// Arguments are texts: "%conv2d" for a result, "%p_1_weight" for a placeholder, "0.1", "None".
struct ExportedCall {
  std::string target;  ///< "aten.linear.default"; empty when the metadata has no call.
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> keywords;
  /// Batch norms that the exporter's optimizer folded into the node of the call.
  int folded_norms = 0;
};

/// By the name of the call: "linear_3".
using ExportedCalls = std::unordered_map<std::string, ExportedCall>;

/// Parses the text of torch.fx's Node.format_node(); unreadable parts are omitted.
ExportedCall parse_exported_call(std::string_view text);

/// Records the call `name` of `node`, if its metadata has it.
void note_exported_call(const onnx::NodeProto& node, const std::string& name, ExportedCalls& calls);

/// The argument at `position`, or that of the keyword; empty when there is neither.
std::string_view call_argument(const ExportedCall& call, std::size_t position,
                               std::string_view keyword);

/// The results and placeholders in the arguments, without "%", in order, with repetitions.
std::vector<std::string> mentioned_names(const ExportedCall& call);

/// True for "silu" and "silu_12" with the name "silu": torch.fx counts calls of one operator.
bool is_call_of(std::string_view call, std::string_view name);

/// True for a call of batch norm, in any of the forms that torch.export gives it.
bool is_batch_norm(std::string_view call);

}  // namespace symprof::trace
