#include "trace/passes/training_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "trace/graph/edit.h"
#include "trace/graph/name_list.h"
#include "trace/graph/uses.h"
#include "trace/passes/training_updates.h"

namespace symprof::trace {
namespace {

/// An ATen operator that says in an argument whether it trains.
struct Switch {
  std::string_view op;
  std::string_view argument;
  /// An argument without which both modes are the same: a norm that tracks no statistics takes the
  /// input's, always (torch/nn/modules/batchnorm.py, instancenorm.py).
  std::string_view needs = {};
};

/// Schemas: torchgen/packaged/ATen/native/native_functions.yaml.
constexpr std::array switches = {
    Switch{"aten::dropout", "train"},
    Switch{"aten::dropout_", "train"},
    Switch{"aten::native_dropout", "train"},
    Switch{"aten::feature_dropout", "train"},
    Switch{"aten::feature_dropout_", "train"},
    Switch{"aten::alpha_dropout", "train"},
    Switch{"aten::alpha_dropout_", "train"},
    Switch{"aten::feature_alpha_dropout", "train"},
    Switch{"aten::feature_alpha_dropout_", "train"},
    Switch{"aten::batch_norm", "training", "running_mean"},
    Switch{"aten::native_batch_norm", "training", "running_mean"},
    Switch{"aten::cudnn_batch_norm", "training", "running_mean"},
    Switch{"aten::miopen_batch_norm", "training", "running_mean"},
    Switch{"aten::_native_batch_norm_legit", "training", "running_mean"},
    Switch{"aten::_native_batch_norm_legit_functional", "training", "running_mean"},
    Switch{"aten::instance_norm", "use_input_stats", "running_mean"},
    Switch{"aten::rrelu", "training"},
    Switch{"aten::rrelu_", "training"},
    Switch{"aten::lstm", "train"},
    Switch{"aten::gru", "train"},
    Switch{"aten::rnn_tanh", "train"},
    Switch{"aten::rnn_relu", "train"},
};

/// Operators that only evaluation has: nothing in them says what training would do.
constexpr std::array<std::string_view, 3> evaluation_only = {
    "aten::_native_batch_norm_legit_no_training",
    "aten::_transformer_encoder_layer_fwd",
    "aten::_native_multi_head_attention",
};

bool is_attention(const Node& node) {
  return node.op == "aten::scaled_dot_product_attention" || node.op == "onnx::Attention" ||
         node.op.starts_with("aten::_scaled_dot_product_");
}

class ModeSwitch {
 public:
  ModeSwitch(Graph& graph, TrainingMode mode)
      : graph_(graph), training_(mode == TrainingMode::train) {}

  void run() {
    for (Node& node : graph_.nodes) {
      set_aten(node);
      set_attention(node);
      set_onnx(node);
      set_branches(node);
    }
    if (!training_) drop_batch_counts();
    if (training_) warn();
  }

 private:
  void set_flag(Node& node, std::string_view name) {
    const Argument* argument = find_argument(node, name);
    const bool* old = argument_as<bool>(argument);
    was_evaluation_ |= training_ && (!argument || (old && !*old));
    set_argument(node, name, training_);
  }

  void set_aten(Node& node) {
    for (const Switch& row : switches)
      if (row.op == node.op &&
          (row.needs.empty() || value_of(find_argument(node, row.needs)) != no_value))
        set_flag(node, row.argument);
    lost_ |=
        std::find(evaluation_only.begin(), evaluation_only.end(), node.op) != evaluation_only.end();
  }

  void set_attention(Node& node) {
    if (!is_attention(node)) return;
    Argument* probability = find_argument(node, "dropout_p");
    if (probability && !training_) probability->value = 0.0;
    const auto* value = argument_as<double>(probability);
    attention_without_dropout_ |= !value || *value == 0.0;
  }

  void set_onnx(Node& node) {
    has_products_ |=
        node.op == "onnx::Conv" || node.op == "onnx::ConvTranspose" || node.op == "onnx::Gemm";
    if (node.op == "onnx::BatchNormalization") {
      const auto* mode = argument_as<std::int64_t>(find_argument(node, "training_mode"));
      was_training_ |= mode != nullptr && *mode != 0;
      if (training_ || find_argument(node, "training_mode"))
        set_argument(node, "training_mode", std::int64_t{training_});
    } else if (node.op == "onnx::Dropout") {
      has_onnx_dropout_ = true;
      set_onnx_dropout(node);
    }
  }

  /// Dropout(data, ratio?, training_mode?): the mode is a boolean input that is false when it is
  /// left out (onnx/docs/Operators.md).
  void set_onnx_dropout(Node& node) {
    constexpr std::size_t position = 2;
    if (training_ || find_argument(node, "", position))
      set_input(node, position, ValueRef{mode_constant()});
  }

  ValueId mode_constant() {
    if (mode_constant_ != no_value) return mode_constant_;
    auto constant = std::make_shared<ConstantTensor>();
    constant->spec = {DType::boolean, {}, {}, 0};
    constant->data = {static_cast<std::byte>(training_)};
    mode_constant_ = graph_.add_value({.name = "symprof.training_mode",
                                       .kind = ValueKind::constant,
                                       .spec = constant->spec,
                                       .constant = constant});
    return mode_constant_;
  }

  void set_branches(Node& node) {
    for (Argument& argument : node.arguments)
      change_nested(argument, [&](Graph& branch) {
        ModeSwitch(branch, training_ ? TrainingMode::train : TrainingMode::eval).run();
      });
  }

  /// nn.BatchNorm counts its batches only in training: `num_batches_tracked.add_(1)`.
  void drop_batch_counts() {
    const Uses uses(graph_);
    std::erase_if(graph_.nodes, [&](const Node& node) {
      if (!counts_batches(node)) return false;
      const ValueId result = node.outputs.empty() ? no_value : node.outputs[0];
      if (!uses.readers(result).empty() || uses.is_output(result)) return false;
      std::erase_if(graph_.mutations,
                    [&](const Mutation& m) { return result != no_value && m.source == result; });
      return true;
    });
  }

  bool counts_batches(const Node& node) const {
    if (node.op != "aten::add_" && node.op != "aten::add") return false;
    const ValueId self = value_of(find_argument(node, "self"));
    if (self == no_value) return false;
    const Value& value = graph_.value(self);
    return value.kind == ValueKind::buffer && value.name.ends_with("num_batches_tracked");
  }

  /// ATen exports keep dropout with train=False, but modules pass 0 to attention in evaluation.
  void warn() {
    if (graph_.traits.may_lack_layers) return warn_of_onnx();
    if (!lost_ && !(was_evaluation_ && attention_without_dropout_)) return;
    graph_.warnings.push_back(
        "The file has no trace of dropout or batch statistics that an export in evaluation mode "
        "removes: if the model has them, export it in training mode to see their cost.");
  }

  /// ONNX exporters leave dropout out altogether in evaluation mode, and fold batch norm. The
  /// dynamo exporter's metadata tells of the latter (trace/passes/restore_norms.h).
  void warn_of_onnx() {
    const ExportRecord& record = graph_.export_record;
    if (!record.lost_dropouts.empty())
      graph_.warnings.push_back(
          fmt::format("The exporter left the dropout inside of attention "
                      "out, and it is in no figure: {}.",
                      list_names(record.lost_dropouts)));
    if (has_onnx_dropout_ || was_training_ || record.mode == ExportMode::training) return;
    const std::string hint = "export it in training mode to see what it costs.";
    if (record.mode == ExportMode::evaluation)
      graph_.warnings.push_back(
          "The file was exported in evaluation mode, without dropout: if the model has any, " +
          hint);
    else if (record.names_calls || !has_products_)
      graph_.warnings.push_back("The file has no dropout. If the model has any, " + hint);
    else
      graph_.warnings.push_back(
          "The file has no dropout, and does not say whether batch norm was folded into its "
          "weights. If the model has any, " +
          hint);
  }

  Graph& graph_;
  bool training_;
  bool was_evaluation_ = false;
  bool attention_without_dropout_ = false;
  bool has_onnx_dropout_ = false, has_products_ = false, was_training_ = false;
  bool lost_ = false;
  ValueId mode_constant_ = no_value;
};

}  // namespace

void set_training_mode(Graph& graph, TrainingMode mode) {
  ModeSwitch(graph, mode).run();
  if (mode == TrainingMode::eval) warn_of_training_updates(graph);
}

}  // namespace symprof::trace
