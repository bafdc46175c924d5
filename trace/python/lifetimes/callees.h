// How many modules one run of a statement can call.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Modules whose paths differ only in numbers are of one kind: "layers.0", "layers.7", and calls of
/// one module. A line in a loop calls modules of one kind.
class CalleeKinds {
 public:
  explicit CalleeKinds(const Graph& graph) : graph_(graph), kinds_(graph.scopes.size(), -1) {}

  /// The number of a module's kind.
  int kind_of(ScopeId module);

  /// The most modules of a kind that one run of a line calls: as many as the line names,
  /// `self.fc[1](self.fc[0](x))`; one if it uses another name, `x = layer(x)`. Unlimited for
  /// `[layer(x) for layer in layers]`, and for the call of a method, `x = self.run(x)`.
  int most_calls(ScopeId module, const std::string& line) const;

 private:
  const Graph& graph_;
  std::vector<int> kinds_;  // By scope; -1: not asked yet.
  std::unordered_map<std::string, int> known_;
};

}  // namespace symprof::trace
