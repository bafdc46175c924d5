#include "trace/onnx/scopes.h"

#include <onnx/onnx_pb.h>

namespace symprof::trace {
namespace {

/// The exporter's module stack for nodes without a module: torch/fx/traceback.py.
constexpr std::string_view no_module_stack = "_empty_nn_module_stack_from_metadata_hook";

/// Limit of nesting: deeper modules belong to this one.
constexpr std::size_t deepest_scope = 256;

}  // namespace

std::vector<std::string> parse_python_list(std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char quote = text[i];
    if (quote != '\'' && quote != '"') continue;
    std::string item;
    for (++i; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      item.push_back(text[i]);
    }
    items.push_back(std::move(item));
  }
  return items;
}

ScopeId ScopeTable::find_or_add(ScopeId parent, const std::string& path, const std::string& type) {
  const auto [found, added] =
      known_.try_emplace({parent, path}, static_cast<ScopeId>(graph_.scopes.size()));
  if (added) graph_.scopes.push_back(Scope{path, type, parent});
  std::string& known_type = graph_.scopes[static_cast<std::size_t>(found->second)].type;
  if (known_type.empty()) known_type = type;
  return found->second;
}

// The last entry is the exported call itself ("conv2d", "aten.conv2d.default"), the first the
// root module: torch/onnx/_internal/exporter/_core.py, _set_node_metadata.
ScopeId ScopeTable::from_lists(const std::vector<std::string>& paths,
                               const std::vector<std::string>& types, ScopeId parent) {
  ScopeId scope = parent;
  for (std::size_t i = 0; i + 1 < paths.size() && i < deepest_scope; ++i) {
    const std::string type = i < types.size() ? types[i] : "";
    if (paths[i] == no_module_stack) continue;
    if (!paths[i].empty())
      scope = find_or_add(scope, paths[i], type);
    else if (std::string& root = graph_.scopes.front().type; root.empty())
      root = type;
  }
  return scope;
}

// A component that repeats the previous one plus a dot is an element of that container:
// "/layer1/layer1.0/conv1/Conv" lies in layer1.0.conv1.
ScopeId ScopeTable::from_name(std::string_view name, ScopeId parent) {
  ScopeId scope = parent;
  std::string path = graph_.scopes[static_cast<std::size_t>(parent)].path, previous;
  std::size_t depth = 0;
  name.remove_prefix(1);
  for (auto slash = name.find('/'); slash != name.npos && depth < deepest_scope;
       slash = name.find('/')) {
    const std::string component(name.substr(0, slash));
    name.remove_prefix(slash + 1);
    if (component.empty()) continue;
    ++depth;
    const bool element = !previous.empty() && component.starts_with(previous + ".");
    if (!element && !path.empty()) path += '.';
    path += element ? component.substr(previous.size()) : component;
    previous = component;
    scope = find_or_add(scope, path, "");
  }
  return scope;
}

ScopeId ScopeTable::of_node(const onnx::NodeProto& node, ScopeId parent) {
  std::vector<std::string> paths, types;
  last_source_ = no_source;
  for (const onnx::StringStringEntryProto& entry : node.metadata_props()) {
    if (entry.key() == "pkg.torch.onnx.name_scopes") paths = parse_python_list(entry.value());
    if (entry.key() == "pkg.torch.onnx.class_hierarchy") types = parse_python_list(entry.value());
    if (entry.key() == "pkg.torch.onnx.stack_trace") last_source_ = sources_.intern(entry.value());
  }
  last_call_ = paths.empty() ? "" : paths.back();
  if (!paths.empty()) return from_lists(paths, types, parent);
  return node.name().starts_with('/') ? from_name(node.name(), parent) : parent;
}

}  // namespace symprof::trace
