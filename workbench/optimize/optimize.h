// Simplifies a model: applies rules until none matches.
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
  std::vector<std::string> also;        ///< Rules of any level in addition to those of `fused`.
  /// True: onnx's checker and type inference verify the model after each rule that changed it, not
  /// only at the end.
  bool checks_each_rule = false;
  bool is_typed = false;     ///< infer_types() has already run on the model.
  bool only_counts = false;  ///< Only the report is needed; the resulting model is not checked.
  /// Called with the model before the first rule (with an empty name), and after each rule that
  /// changed its main graph in a pass; "subgraphs" stands for all rules in bodies of If, Loop and
  /// Scan.
  std::function<void(const std::string& rule, const onnx::ModelProto& model)> after_rule;
};

struct RuleReport {
  std::string name;
  std::int64_t times = 0, removed = 0, added = 0;
  std::int64_t sweeps = 0, most = 0;  ///< Passes over a graph; the most changes in one of them.
  double milliseconds = 0;            ///< For matching the pattern and changing the graph.
  std::int64_t bytes = 0;             ///< Removed results, where their sizes are known.
};

struct OptimizeReport {
  /// Without Constants, with subgraphs, functions inlined.
  std::int64_t nodes_before = 0, nodes_after = 0;
  int passes = 0;
  std::vector<RuleReport> rules;  ///< The rules that were tried, in the order of the table.
  std::vector<std::string> warnings;
};

/// For --list: name, meaning and level of each rule; the level "by name" for rules that have to be
/// named.
struct RuleDescription {
  std::string name, meaning, level;
};
std::vector<RuleDescription> rule_list();

/// Inlines functions and applies rules to the main graph and its subgraphs until none applies. It
/// terminates: each change reduces, in lexicographic order, the numbers of nodes, of Einsums, of
/// computed operands and results, and of all operands; a rule that once did not is disabled. Types
/// of inputs and outputs are unchanged. Throws Error for an unknown rule, and if onnx's checker
/// rejects the model or the result.
OptimizeReport optimize(onnx::ModelProto& model, const OptimizeOptions& options,
                        const std::string& path);

}  // namespace symprof::workbench
