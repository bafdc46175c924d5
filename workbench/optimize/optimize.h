// Simplifies a model: rules applied until none applies.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workbench/model.h"

namespace symprof::workbench {

struct OptimizeOptions {
  std::string fused = "standard";       ///< "none", "standard" or "microsoft".
  std::vector<std::string> only, skip;  ///< Names of rules.
};

struct RuleReport {
  std::string name;
  std::int64_t times = 0, removed = 0, added = 0;
  double milliseconds = 0;  ///< Of looking for its pattern and of changing the graph.
  std::int64_t bytes = 0;   ///< Results that are not made any more, where their sizes are known.
};

struct OptimizeReport {
  std::int64_t nodes_before = 0, nodes_after = 0;  ///< Of the main graph, functions inlined.
  int passes = 0;
  std::vector<RuleReport> rules;  ///< In the order of the list, those that were tried.
  std::vector<std::string> warnings;
};

/// Name, meaning and level of each rule, for --list.
struct RuleDescription {
  std::string name, meaning, level;
};
std::vector<RuleDescription> rule_list();

/// Inlines functions and applies rules to the main graph until none applies. It ends: a change
/// lowers the number of nodes, or leaves it and lowers the number of computed operands and outputs;
/// a rule that did neither once is not tried again. Types of inputs and outputs stay. Throws Error
/// for a name that is no rule, for a model that onnx's checker finds not valid, and where the
/// result is not.
OptimizeReport optimize(onnx::ModelProto& model, const OptimizeOptions& options,
                        const std::string& path);

}  // namespace symprof::workbench
