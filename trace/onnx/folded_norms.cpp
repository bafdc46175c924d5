#include "trace/onnx/folded_norms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

constexpr std::array<std::string_view, 3> products = {"onnx::Conv", "onnx::ConvTranspose",
                                                      "onnx::Gemm"};

double number_in(std::string_view text, double otherwise) {
  double number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::int64_t integer_attribute(const Node& node, std::string_view name, std::int64_t otherwise) {
  const auto* value = argument_as<std::int64_t>(find_argument(node, name));
  return value == nullptr ? otherwise : *value;
}

class NormReader {
 public:
  NormReader(Graph& graph, const ExportedCalls& exported, const Signature& signature)
      : graph_(graph), exported_(exported), signature_(signature), uses_(graph) {}

  FoldedNorm read(const Node& node, const std::string& name) const {
    FoldedNorm norm{.result = node.outputs.at(0)};
    norm.module = graph_.scopes[static_cast<std::size_t>(node.scope)].path;
    const auto found = exported_.find(name);
    const auto channels = product_channels(graph_, node);
    if (found == exported_.end() || !channels || found->second.folded_norms > 1) return norm;
    const ExportedCall& call = found->second;
    norm.channels = *channels;
    norm.is_known = read_names(call, norm) && read_product(node, norm);
    // (input, weight, bias, running_mean, running_var, training, momentum, eps), without `training`
    // for the variants named so.
    const std::size_t momentum = is_call_of(name, "_native_batch_norm_legit_no_training") ? 5 : 6;
    norm.momentum = number_in(call_argument(call, momentum, "momentum"), norm.momentum);
    norm.epsilon = number_in(call_argument(call, momentum + 1, "eps"), norm.epsilon);
    return norm;
  }

 private:
  /// False where an argument is neither None nor a name of the signature.
  bool read_name(std::string_view text, std::string& path) const {
    if (text == "None") return true;
    if (!text.starts_with('%')) return false;
    const auto target = signature_.targets.find(std::string(text.substr(1)));
    if (target == signature_.targets.end()) return false;
    path = target->second;
    return true;
  }

  bool read_names(const ExportedCall& call, FoldedNorm& norm) const {
    return read_name(call_argument(call, 1, "weight"), norm.weight) &&
           read_name(call_argument(call, 2, "bias"), norm.bias) &&
           read_name(call_argument(call, 3, "running_mean"), norm.running_mean) &&
           read_name(call_argument(call, 4, "running_var"), norm.running_var) &&
           !norm.running_mean.empty();
  }

  /// The folded weight keeps its name, and its module shows if the layer has a bias. A name used by
  /// several nodes belongs to another, equal weight.
  bool read_product(const Node& node, FoldedNorm& norm) const {
    const ValueId weight = operand(node, 1);
    const std::string& name = graph_.value(weight).name;
    constexpr std::string_view suffix = "weight";
    if (!signature_.kinds.contains(name) || !name.ends_with(suffix) ||
        uses_.readers(weight).size() != 1)
      return false;
    const std::string module = name.substr(0, name.size() - suffix.size());
    if (signature_.kinds.contains(module + "bias")) norm.product_bias = module + "bias";
    norm.product_module = module.substr(0, module.empty() ? 0 : module.size() - 1);
    return true;
  }

  const Graph& graph_;
  const ExportedCalls& exported_;
  const Signature& signature_;
  const Uses uses_;
};

}  // namespace

bool is_folded_norm(const Node& node, const std::string& call) {
  return std::ranges::find(products, node.op) != products.end() && is_batch_norm(call);
}

std::optional<std::int64_t> product_channels(const Graph& graph, const Node& node) {
  if (std::ranges::find(products, node.op) == products.end()) return std::nullopt;
  const ValueId weight = operand(node, 1);
  if (weight == no_value || !graph.value(weight).spec) return std::nullopt;
  const std::vector<std::int64_t>& sizes = graph.value(weight).spec->sizes;
  if (sizes.size() < 2) return std::nullopt;
  if (node.op == "onnx::Conv") return sizes[0];
  if (node.op == "onnx::Gemm") return sizes[integer_attribute(node, "transB", 0) != 0 ? 0 : 1];
  return sizes[1] * integer_attribute(node, "group", 1);
}

void find_folded_norms(Graph& graph, const std::vector<std::string>& calls,
                       const ExportedCalls& exported, const Signature& signature) {
  const NormReader reader(graph, exported, signature);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (is_folded_norm(graph.nodes[i], calls[i]))
      graph.export_record.folded_norms.push_back(reader.read(graph.nodes[i], calls[i]));
}

}  // namespace symprof::trace
