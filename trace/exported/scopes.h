// Module scopes from the `nn_module_stack` that the exporter keeps with each node.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "trace/graph/graph.h"

namespace symprof::trace::exported {

/// Interns module stacks into Graph::scopes. The given text must outlive it.
class ScopeTable {
 public:
  explicit ScopeTable(std::vector<Scope>& scopes) : scopes_(scopes) {}

  /// `stack` is "key,path,type;key,path,type;…" from the outermost module in (serialize_metadata in
  /// torch/_export/serde/serialize.py). A repeated call of a module has a key that ends in "@N".
  ScopeId intern(std::string_view stack);

 private:
  ScopeId child(ScopeId parent, std::string_view entry);

  std::vector<Scope>& scopes_;
  std::unordered_map<std::string_view, ScopeId> stacks_;
  std::unordered_map<std::string_view, ScopeId> prefixes_;
};

}  // namespace symprof::trace::exported
