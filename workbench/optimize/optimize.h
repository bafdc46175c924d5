// Simplifies a model: rules applied until none applies.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workbench/model.h"

namespace symprof::workbench {

struct OptimizeOptions {
  std::string fused = "standard";       ///< Or "none", "microsoft", "training".
  std::vector<std::string> only, skip;  ///< Names of rules.
  std::vector<std::string> also;        ///< Rules of any level besides those of `fused`.
  /// Whether onnx's checker and its inference of types look at the model after each rule that
  /// changed it, not only at the end.
  bool checks_each_rule = false;
  bool is_typed = false;     ///< infer_types() has run on the model as it is.
  bool only_counts = false;  ///< The report is wanted and not the model, which is not checked then.
  /// Called with the model before the first rule (no name), and after each rule that changed its
  /// main graph in a pass; "subgraphs" stands for all rules in bodies of If, Loop and Scan.
  std::function<void(const std::string& rule, const onnx::ModelProto& model)> after_rule;
};

struct RuleReport {
  std::string name;
  std::int64_t times = 0, removed = 0, added = 0;
  std::int64_t sweeps = 0, most = 0;  ///< Looks at a graph; the most changes of one of them.
  double milliseconds = 0;            ///< Of looking for its pattern and of changing the graph.
  std::int64_t bytes = 0;  ///< Results that are not made any more, where their sizes are known.
};

struct OptimizeReport {
  /// Without Constants, with those of subgraphs, functions inlined.
  std::int64_t nodes_before = 0, nodes_after = 0;
  int passes = 0;
  std::vector<RuleReport> rules;  ///< In the order of the list, those that were tried.
  std::vector<std::string> warnings;
};

/// Name, meaning and level of each rule, for --list; "by name" where it has none.
struct RuleDescription {
  std::string name, meaning, level;
};
std::vector<RuleDescription> rule_list();

/// Inlines functions and applies rules to the main graph and its subgraphs until none applies. It
/// ends: a change lowers the number of nodes, or leaves it and lowers that of Einsums, or leaves
/// both and lowers that of computed operands and results, or leaves all three and lowers that of
/// all operands; a rule that did none of it once is not tried again. Types of inputs and outputs
/// stay. Throws Error for a name that is no rule, for a model that onnx's checker finds not valid,
/// and where the result is not.
OptimizeReport optimize(onnx::ModelProto& model, const OptimizeOptions& options,
                        const std::string& path);

}  // namespace symprof::workbench
