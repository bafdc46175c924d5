#include "shape/interpreter/unsupported.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "shape/interpreter/builtin.h"
#include "shape/interpreter/expert_parallel.h"
#include "shape/interpreter/higher_order.h"
#include "shape/interpreter/nested.h"
#include "shape/interpreter/tensor_parallel.h"
#include "shape/interpreter/unmodelled.h"
#include "shape/lowering/lowering.h"
#include "trace/graph/region_markers.h"

namespace symprof::shape {
namespace {

constexpr std::array assertions = {
    std::string_view("aten::_assert_tensor_metadata"),
    std::string_view("aten::_assert_scalar"),
    std::string_view("aten::_assert_async"),
    std::string_view("aten::sym_constrain_range"),
    std::string_view("aten::sym_constrain_range_for_size"),
    std::string_view("aten::_functional_assert_async"),
    std::string_view("aten::_functional_assert_scalar"),
};

bool in_dispatcher(const Node& node) {
  const std::string overload = node.overload == "default" ? "" : node.overload;
  return c10::Dispatcher::singleton().findSchema({node.op, overload}).has_value();
}

struct Unknown {
  std::string op;
  std::size_t nodes = 0;
  std::string first_node;
};

/// Advice for operators that no shape rule could support.
struct Advice {
  std::string_view op;
  std::string_view text;
};
constexpr Advice advice_rows[] = {
    {"higher_order::flex_attention",
     "flex_attention is a kernel that is compiled for its functions: profile the model with "
     "torch.nn.functional.scaled_dot_product_attention and a mask in its place."},
    {"higher_order::call_torchbind",
     "Methods of custom classes are code that the file does not have: export the model with "
     "operators in their place."},
    {"higher_order::triton_kernel_wrapper_mutation",
     "Triton kernels are code that the file does not have: wrap each in a custom operator with a "
     "shape rule (docs/tutorial/own_operator.md), and export again."},
    {"higher_order::triton_kernel_wrapper_functional",
     "Triton kernels are code that the file does not have: wrap each in a custom operator with a "
     "shape rule (docs/tutorial/own_operator.md), and export again."},
    {"higher_order::aoti_call_delegate",
     "A part of the model is compiled already: export it before it is lowered."},
    {"higher_order::executorch_call_delegate",
     "A part of the model is compiled already: export it before it is lowered."},
};
constexpr std::string_view usual_advice =
    "`symprof ops` lists the operators that are known. An operator of your own needs a shape rule: "
    "docs/tutorial/own_operator.md.";

/// Operators of torch.vmap in an export without decompositions.
constexpr std::string_view vmap_prefix = "python::torch._functorch.predispatch.";
constexpr std::string_view vmap_advice =
    "torch.vmap is code between operators here: save program.run_decompositions({}), which writes "
    "it as operators.";

std::string_view advice_for(std::string_view op) {
  if (op.starts_with(vmap_prefix)) return vmap_advice;
  const auto* row = std::ranges::find(advice_rows, op, &Advice::op);
  return row == std::end(advice_rows) ? usual_advice : row->text;
}

// Unknown operators in the order of first appearance. The reader has bounded the depth of nested
// graphs.
class UnknownOperators {
 public:
  /// Where `shapes` is given: only those whose results have shapes in the file, or have none.
  explicit UnknownOperators(std::optional<bool> has_shapes) : has_shapes_(has_shapes) {}

  void add(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      if (!is_known(node) && is_wanted(graph, node)) count(node);
      for (const Argument& argument : node.arguments)
        if (const auto* nested = std::get_if<std::shared_ptr<const Graph>>(&argument.value))
          if (*nested != nullptr) add(**nested);
    }
  }

  const std::vector<Unknown>& found() const { return found_; }

 private:
  // A large graph repeats few operators: each is looked up in the dispatcher once.
  bool is_known(const Node& node) {
    const auto [entry, is_new] = known_.try_emplace({node.op, node.overload}, false);
    if (is_new) entry->second = has_rule(node);
    return entry->second;
  }

  bool is_wanted(const Graph& graph, const Node& node) const {
    return !has_shapes_ || recorded_results(graph, node).has_value() == *has_shapes_;
  }

  void count(const Node& node) {
    const bool named = !node.overload.empty() && node.overload != "default";
    const std::string op = named ? node.op + "." + node.overload : node.op;
    auto row = std::ranges::find(found_, op, &Unknown::op);
    if (row == found_.end()) row = found_.insert(row, {.op = op, .first_node = node.name});
    ++row->nodes;
  }

  std::optional<bool> has_shapes_;
  std::map<std::pair<std::string, std::string>, bool> known_;
  std::vector<Unknown> found_;
};

/// "acme::swizzle (2 nodes, first n0), acme::pool (node n3)"
std::string listed(const std::vector<Unknown>& found) {
  std::string text;
  for (const Unknown& row : found) {
    if (!text.empty()) text += ", ";
    text += row.nodes == 1
                ? fmt::format("{} (node {})", row.op, row.first_node)
                : fmt::format("{} ({} nodes, first {})", row.op, row.nodes, row.first_node);
  }
  return text;
}

}  // namespace

bool is_export_assertion(std::string_view op) {
  return std::ranges::find(assertions, op) != assertions.end();
}

bool has_rule(const Node& node) {
  const std::string_view op = node.op;
  if (op.starts_with(builtin_prefix))
    return find_builtin(op.substr(builtin_prefix.size())) != nullptr;
  return is_export_assertion(op) || trace::is_region_marker(node) || in_dispatcher(node) ||
         lowering::find_lowering(op) != nullptr || is_nested_operator(op) || is_higher_order(op) ||
         is_of_experts(op) || is_of_rank(op);
}

void check_operators(const Graph& graph, ShapesOfFile shapes) {
  const bool takes_shapes = shapes == ShapesOfFile::are_taken;
  UnknownOperators unknown(takes_shapes ? std::optional(false) : std::nullopt);
  unknown.add(graph);
  const std::vector<Unknown>& found = unknown.found();
  if (found.empty()) return;
  const std::string text =
      (found.size() == 1 ? "1 operator has no rule: "
                         : fmt::format("{} operators have no rule: ", found.size())) +
      listed(found);
  // Specific advice takes precedence over the usual one.
  std::string_view advice = usual_advice;
  for (const Unknown& row : found)
    if (advice == usual_advice) advice = advice_for(row.op);
  throw Error(graph.path, text + ".", std::string(advice));
}

std::string unmodelled_operators(const Graph& graph) {
  UnknownOperators unknown(true);
  unknown.add(graph);
  return listed(unknown.found());
}

}  // namespace symprof::shape
