#include "workbench/optimize/optimize.h"

#include <fmt/format.h>
#include <onnx/checker.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "base/nearest.h"
#include "base/setting.h"
#include "workbench/cut.h"
#include "workbench/inline.h"
#include "workbench/optimize/rule.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

constexpr Rule all_rules[] = {
    {"constant_folding", "nodes of constants become initializers", rules::fold_constant},
    {"shape_of_known", "Shape of known sizes is a constant", rules::fold_shape},
    {"cast_like", "CastLike of a constant is a constant", rules::fold_cast_like},
    {"dead", "nodes that nothing reads go", rules::drop_dead},
    {"identity", "nodes that change nothing go", rules::drop_identity},
    {"neutral", "sums with 0 and products with 1 go", rules::drop_neutral},
    {"equal", "equal nodes become one", rules::merge_equal},
    {"cast_cast", "a Cast to a wider type before another goes", rules::merge_casts},
    {"constant_shape", "a Reshape of known sizes has a constant shape",
     rules::constant_target_shape},
    {"transpose_transpose", "two Transposes become one", rules::merge_transposes},
    {"reshape_reshape", "Reshape, Squeeze, Unsqueeze, Flatten after one another become one",
     rules::merge_reshapes},
    {"reshape_back", "a Reshape that undoes the one before it goes", rules::undo_reshape},
    {"unsqueeze_unsqueeze", "two Unsqueezes become one", rules::merge_unsqueezes},
    {"scatter_pad", "ScatterND into zeros is Pad", rules::scatter_to_pad},
    {"pads_concat", "a sum of Pads that fill one another is Concat", rules::pads_to_concat},
    {"expand", "an Expand that broadcasting does goes", rules::drop_expand},
    {"reduce_squeeze", "a Squeeze after a reduction goes into it", rules::squeeze_in_reduce},
    {"reciprocal_sqrt", "Mul by Reciprocal of Sqrt is Div by Sqrt", rules::divide_by_root},
    {"slices_split", "Slices that cover an axis become a Split", rules::slices_to_split},
    {"transpose_gemm", "Transposes of matrices go into Gemm", rules::transpose_into_gemm},
    {"shared_transpose_gemm", "a Transpose that only Gemms read goes into all of them",
     rules::shared_transpose_into_gemm},
    {"conv_batch_norm", "a BatchNormalization goes into the weights of a Conv",
     rules::norm_into_conv},
    {"layer_norm", "LayerNormalization from its parts", rules::layer_norm, Fused::standard},
    {"gelu", "Gelu from its parts", rules::gelu, Fused::standard},
    {"rms_norm_23", "RMSNormalization from its parts, from opset 23 on",
     rules::root_mean_square_norm_23, Fused::standard},
    {"rms_norm", "SimplifiedLayerNormalization from its parts", rules::root_mean_square_norm,
     Fused::microsoft},
    {"skip_norm", "a sum and its norm as one node", rules::skip_norm, Fused::microsoft},
    {"quick_gelu", "x · Sigmoid(x) as QuickGelu", rules::quick_gelu, Fused::microsoft},
    {"fused_matmul", "Transposes and scales go into FusedMatMul", rules::fused_matmul,
     Fused::microsoft},
    {"shared_transpose_matmul", "a Transpose that only products read goes into all of them",
     rules::shared_transpose_into_matmul, Fused::microsoft},
    {"scale_matmul", "a scale that only products read goes into all of them",
     rules::scale_into_matmul, Fused::microsoft},
    {"transpose_matmul", "the Transpose of a product goes into it", rules::transpose_of_product,
     Fused::microsoft},
    {"reshape_gemm", "Reshapes around a Gemm of rows go into FusedMatMul", rules::gemm_of_reshaped,
     Fused::microsoft},
    {"fused_conv", "a Relu goes into FusedConv", rules::fused_conv, Fused::microsoft},
};

constexpr const char* level_names[] = {"none", "standard", "microsoft"};

Fused level_of(const std::string& name) {
  for (int i = 0; i < 3; ++i)
    if (name == level_names[i]) return static_cast<Fused>(i);
  throw Error(SettingRef{"fused"}, fmt::format("'{}' is none of none, standard, microsoft.", name));
}

std::vector<const Rule*> chosen_rules(const OptimizeOptions& options) {
  std::vector<std::string> names;
  for (const Rule& rule : all_rules) names.emplace_back(rule.name);
  const auto check = [&](const char* option, const std::vector<std::string>& list) {
    for (const std::string& name : list)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error(SettingRef{option}, fmt::format("there is no rule '{}'.", name),
                    did_you_mean(name, names));
  };
  check("only", options.only);
  check("skip", options.skip);
  const Fused level = level_of(options.fused);
  std::vector<const Rule*> chosen;
  const auto has = [](const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const Rule& rule : all_rules) {
    const bool named = has(options.only, rule.name);
    if (options.only.empty() ? rule.level > level : !named) continue;
    if (!has(options.skip, rule.name)) chosen.push_back(&rule);
  }
  return chosen;
}

std::int64_t result_bytes(const Editor& editor, int node) {
  std::int64_t bytes = 0;
  for (const std::string& output : editor.node(node).output()) {
    const Type type = editor.type(output);
    const auto dtype = type.dtype();
    if (!dtype || !type.is_static()) continue;
    TensorSpec spec{*dtype, type.numbers(), {}, 0};
    bytes += spec.bytes();
  }
  return bytes;
}

class Optimizer {
 public:
  Optimizer(onnx::ModelProto& model, const OptimizeOptions& options, const std::string& path)
      : model_(model), path_(path), rules_(chosen_rules(options)) {
    for (const Rule* rule : rules_) report_.rules.push_back({std::string(rule->name)});
    stopped_.assign(rules_.size(), false);
  }

  OptimizeReport run() {
    check("not a valid ONNX model", "Export the model again.");
    for (const std::string& kept : inline_functions(model_, "inline", path_).kept)
      report_.warnings.push_back("function not inlined: " + kept);
    const auto types = interface_of();
    bool changed = true;
    while (changed) {
      changed = false;
      infer_types(model_);
      Editor editor(model_);
      if (report_.passes++ == 0) report_.nodes_before = editor.live_nodes();
      for (std::size_t r = 0; r < rules_.size(); ++r) changed |= sweep(editor, r);
      report_.nodes_after = editor.live_nodes();
      editor.commit();
      drop_unused(model_);
    }
    if (types != interface_of())
      throw Error(path_, "types of inputs or outputs changed",
                  "Please report this with the model.");
    check("the optimized model is not valid",
          "Please report this with the model; rules can be left out.");
    return std::move(report_);
  }

 private:
  std::string interface_of() const {
    std::string all;
    for (const auto* list : {&model_.graph().input(), &model_.graph().output()})
      for (const onnx::ValueInfoProto& value : *list)
        all += fmt::format("{} {}\n", value.name(), type_text(value.type()));
    return all;
  }

  bool sweep(Editor& editor, std::size_t r) {
    RuleReport& report = report_.rules[r];
    const auto start = std::chrono::steady_clock::now();
    bool changed = false;
    for (int node = 0; node < editor.end() && !stopped_[r]; ++node)
      while (editor.is_alive(node) && !stopped_[r] && apply(editor, r, node)) changed = true;
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    report.milliseconds += spent.count();
    return changed;
  }

  bool apply(Editor& editor, std::size_t r, int node) {
    const int before = editor.live_nodes(), made = editor.end();
    const std::int64_t bytes = result_bytes(editor, node), edges = editor.edges();
    if (!rules_[r]->apply(editor, node)) return false;
    RuleReport& report = report_.rules[r];
    ++report.times;
    const int added = editor.end() - made;
    report.added += added;
    report.removed += before + added - editor.live_nodes();
    if (!editor.is_alive(node) && added == 0) report.bytes += bytes;
    const bool is_smaller =
        editor.live_nodes() < before || (editor.live_nodes() == before && editor.edges() < edges);
    if (is_smaller) return true;
    stopped_[r] = true;
    report_.warnings.push_back(
        fmt::format("rule {} stopped: it did not make the graph smaller", report.name));
    return true;
  }

  void check(const char* what, const char* advice) const {
    onnx::ModelProto copy = model_;
    // The checker looks for external data; what a graph is does not depend on it.
    std::vector<onnx::TensorProto> outside;
    auto* list = copy.mutable_graph()->mutable_initializer();
    for (int i = list->size(); i-- > 0;)
      if (list->Get(i).data_location() == onnx::TensorProto::EXTERNAL) {
        outside.push_back(list->Get(i));
        list->DeleteSubrange(i, 1);
      }
    for (const onnx::TensorProto& tensor : outside) {
      onnx::ValueInfoProto& input = *copy.mutable_graph()->add_input();
      input.set_name(tensor.name());
      auto& type = *input.mutable_type()->mutable_tensor_type();
      type.set_elem_type(tensor.data_type());
      for (const std::int64_t size : tensor.dims())
        type.mutable_shape()->add_dim()->set_dim_value(size);
    }
    // ONNX Runtime has this operator in ONNX's own domain, where onnx itself knows none.
    for (onnx::NodeProto& node : *copy.mutable_graph()->mutable_node())
      if (node.op_type() == "SimplifiedLayerNormalization") node.set_domain("com.microsoft");
    try {
      onnx::checker::check_model(copy);
    } catch (const std::exception& error) {
      std::string problem = error.what();
      problem = problem.substr(0, problem.find('\n'));
      throw Error(path_, fmt::format("{}: {}", what, problem), advice);
    }
  }

  onnx::ModelProto& model_;
  const std::string& path_;
  std::vector<const Rule*> rules_;
  std::vector<bool> stopped_;
  OptimizeReport report_;
};

}  // namespace

std::vector<RuleDescription> rule_list() {
  std::vector<RuleDescription> list;
  for (const Rule& rule : all_rules)
    list.push_back({std::string(rule.name), std::string(rule.meaning),
                    level_names[static_cast<std::size_t>(rule.level)]});
  return list;
}

OptimizeReport optimize(onnx::ModelProto& model, const OptimizeOptions& options,
                        const std::string& path) {
  return Optimizer(model, options, path).run();
}

}  // namespace symprof::workbench
