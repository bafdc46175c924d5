// Module scopes from exporters' node metadata.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/python/source/source_lines.h"

namespace onnx {
class NodeProto;
}

namespace symprof::trace {

/// Adds scopes to a graph, each once.
class ScopeTable {
 public:
  /// The nodes' metadata must outlive it.
  explicit ScopeTable(Graph& graph) : graph_(graph), sources_(graph.source_lines) {}

  /// The scope of `path` below `parent`; an empty type is filled in when a later call knows it.
  ScopeId find_or_add(ScopeId parent, const std::string& path, const std::string& type);

  /// The scope of a node: the dynamo exporter's metadata "pkg.torch.onnx.name_scopes" and
  /// "…class_hierarchy", else a name of the form "/encoder/layers.0/mlp/MatMul", else `parent`.
  ScopeId of_node(const onnx::NodeProto& node, ScopeId parent);

  /// The exported call that the last node of `of_node` belongs to, by its name in torch.export's
  /// graph: "silu_3". Empty when the metadata has none.
  const std::string& last_call() const { return last_call_; }

  /// The line of Python of that node: the dynamo exporter's "pkg.torch.onnx.stack_trace".
  SourceId last_source() const { return last_source_; }

 private:
  ScopeId from_lists(const std::vector<std::string>& paths, const std::vector<std::string>& types,
                     ScopeId parent);
  ScopeId from_name(std::string_view name, ScopeId parent);

  Graph& graph_;
  SourceTable sources_;
  std::string last_call_;
  SourceId last_source_ = no_source;
  std::map<std::pair<ScopeId, std::string>, ScopeId> known_;
};

/// The strings of a Python list as repr() writes it: "['', 'encoder', \"it's\"]".
std::vector<std::string> parse_python_list(std::string_view text);

}  // namespace symprof::trace
