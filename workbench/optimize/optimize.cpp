#include "workbench/optimize/optimize.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <chrono>
#include <tuple>

#include "base/error.h"
#include "base/nearest.h"
#include "base/setting.h"
#include "workbench/cut.h"
#include "workbench/inline.h"
#include "workbench/nodes.h"
#include "workbench/optimize/check.h"
#include "workbench/optimize/rule_table.h"
#include "workbench/optimize/subgraphs.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

constexpr const char* level_names[] = {"none", "standard", "microsoft", "training"};

Fused level_of(const std::string& name) {
  for (int i = 0; i < 4; ++i)
    if (name == level_names[i]) return static_cast<Fused>(i);
  throw Error(
      SettingRef{"fused"},
      fmt::format("unknown level '{}'; expected none, standard, microsoft or training.", name));
}

std::vector<const Rule*> chosen_rules(const OptimizeOptions& options) {
  std::vector<std::string> names;
  for (const Rule& rule : all_rules()) names.emplace_back(rule.name);
  const auto check = [&](const char* option, const std::vector<std::string>& list) {
    for (const std::string& name : list)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw Error(SettingRef{option}, fmt::format("there is no rule '{}'.", name),
                    did_you_mean(name, names));
  };
  check("only", options.only);
  check("also", options.also);
  check("skip", options.skip);
  const Fused level = level_of(options.fused);
  std::vector<const Rule*> chosen;
  const auto has = [](const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const Rule& rule : all_rules()) {
    const bool is_default = options.only.empty() && rule.level <= level && !rule.only_by_name;
    const bool is_named = has(options.only, rule.name) || has(options.also, rule.name);
    if ((is_default || is_named) && !has(options.skip, rule.name)) chosen.push_back(&rule);
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

/// The number of nodes without Constants, including subgraphs.
std::int64_t count_nodes(const onnx::ModelProto& model) {
  std::int64_t count = 0;
  for_all_nodes(model.graph().node(),
                [&](const onnx::NodeProto& node) { count += !is_constant(node); });
  return count;
}

class Optimizer {
 public:
  Optimizer(onnx::ModelProto& model, const OptimizeOptions& options, const std::string& path)
      : model_(model), options_(options), path_(path), rules_(chosen_rules(options)) {
    report_.rules.reserve(rules_.size());
    for (const Rule* rule : rules_) report_.rules.push_back({.name = std::string(rule->name)});
    stopped_.assign(rules_.size(), false);
  }

  OptimizeReport run() {
    check_model(model_, path_, "not a valid ONNX model", "Export the model again.");
    for (const std::string& kept : inline_functions(model_, "inline", path_).kept)
      report_.warnings.push_back("function not inlined: " + kept);
    const auto types = interface_of();
    report_.nodes_before = count_nodes(model_);
    if (options_.after_rule) options_.after_rule("", model_);
    while (pass()) {
    }
    report_.nodes_after = count_nodes(model_);
    if (types != interface_of())
      throw Error(path_, "types of inputs or outputs changed",
                  "Please report this with the model.");
    if (!options_.only_counts)
      check_model(model_, path_, "the optimized model is not valid",
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

  bool pass() {
    ++report_.passes;
    if (report_.passes > 1 || !options_.is_typed) infer_types(model_);
    const bool changed = sweep_all(model_, names_in_subgraphs(model_.graph()), Scope::main);
    drop_unused(model_);
    return sweep_subgraphs() || changed;
  }

  bool sweep_subgraphs() {
    NameSet names;
    add_names(model_.graph(), names);
    bool changed = false;
    for_each_subgraph(model_, [&](onnx::ModelProto& part) {
      infer_types(part);
      changed |= sweep_all(part, names, Scope::part);
      drop_unused_values(*part.mutable_graph());
      add_names(part.graph(), names);
    });
    if (changed) show(nullptr, "subgraphs");
    return changed;
  }

  enum class Scope : std::uint8_t { main, part };

  /// Applies all rules, one after the other, to the graph of `model`.
  bool sweep_all(onnx::ModelProto& model, const NameSet& elsewhere, Scope scope) {
    Editor editor(model, elsewhere);
    bool changed = false;
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      if (stopped_[r] || !sweep(editor, r)) continue;
      changed = true;
      if (scope == Scope::main) show(&editor, report_.rules[r].name);
    }
    editor.finish();
    return changed;
  }

  /// Checks the model after a rule, and passes it to the callback.
  void show(Editor* editor, const std::string& rule) {
    if (!options_.checks_each_rule && !options_.after_rule) return;
    if (editor) editor->commit();
    if (options_.checks_each_rule) {
      const std::string what = fmt::format("after rule {} the model is not valid", rule);
      check_model(model_, path_, what, "Please report this with the model; rules can be left out.");
      if (editor) check_types(*editor, model_, path_, what);
    }
    if (options_.after_rule) options_.after_rule(rule, model_);
  }

  bool sweep(Editor& editor, std::size_t r) {
    RuleReport& report = report_.rules[r];
    const auto start = std::chrono::steady_clock::now();
    const std::int64_t before = report.times;
    for (int node = 0; node < editor.end() && !stopped_[r]; ++node)
      while (editor.is_alive(node) && !stopped_[r] && apply(editor, r, node)) {
      }
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    report.milliseconds += spent.count();
    ++report.sweeps;
    report.most = std::max(report.most, report.times - before);
    return report.times > before;
  }

  /// The size of a graph, which each change has to reduce in lexicographic order: nodes, Einsums,
  /// computed operands and results, all operands. No rule makes an Einsum.
  using Size = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  static Size size_of(const Editor& editor) {
    return {editor.live_nodes(), editor.einsums(), editor.edges(), editor.operands()};
  }

  bool apply(Editor& editor, std::size_t r, int node) {
    const Size before = size_of(editor);
    const int made = editor.end();
    if (!rules_[r]->apply(editor, node)) return false;
    RuleReport& report = report_.rules[r];
    ++report.times;
    int added = 0;
    for (int i = made; i < editor.end(); ++i) added += editor.weight(i);
    report.added += added;
    report.removed += std::get<0>(before) + added - editor.live_nodes();
    if (!editor.is_alive(node) && added == 0) report.bytes += result_bytes(editor, node);
    if (size_of(editor) < before) return true;
    stopped_[r] = true;
    report_.warnings.push_back(
        fmt::format("rule {} stopped: it did not make the graph smaller", report.name));
    return true;
  }

  onnx::ModelProto& model_;
  const OptimizeOptions& options_;
  const std::string& path_;
  std::vector<const Rule*> rules_;
  std::vector<bool> stopped_;
  OptimizeReport report_;
};

}  // namespace

std::vector<RuleDescription> rule_list() {
  std::vector<RuleDescription> list;
  list.reserve(all_rules().size());
  for (const Rule& rule : all_rules())
    list.push_back(
        {std::string(rule.name), std::string(rule.meaning),
         rule.only_by_name ? "by name" : level_names[static_cast<std::size_t>(rule.level)]});
  return list;
}

OptimizeReport optimize(onnx::ModelProto& model, const OptimizeOptions& options,
                        const std::string& path) {
  return Optimizer(model, options, path).run();
}

}  // namespace symprof::workbench
