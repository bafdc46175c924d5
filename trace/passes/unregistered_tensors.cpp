#include "trace/passes/unregistered_tensors.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/setting.h"
#include "trace/python/source/constructors.h"

namespace symprof::trace {
namespace {

constexpr std::int64_t float_bytes = 4;  // The dtype of torch.zeros and its like, by default.

/// "block" of "block@1", a second call of one module.
std::string_view without_call(std::string_view path) { return path.substr(0, path.rfind('@')); }

}  // namespace

int note_unregistered_tensors(Graph& graph, const std::vector<std::string>& folders) {
  std::unordered_set<std::string_view> known, met;
  for (const Value& value : graph.values)
    if (value.kind != ValueKind::result && value.kind != ValueKind::input) known.insert(value.name);
  Constructors constructors(folders);
  for (const Scope& scope : graph.scopes) {
    const std::string_view path = without_call(scope.path);
    if (scope.type.empty() || !met.insert(path).second) continue;
    for (const HeldTensor& held : constructors.held_by(scope.type)) {
      const std::string name = path.empty() ? held.name : fmt::format("{}.{}", path, held.name);
      if (!known.contains(name)) graph.unregistered_bytes.push_back(float_bytes * held.elements);
    }
  }
  if (constructors.found() > 0 && graph.unregistered_bytes.empty())
    graph.unregistered_bytes.push_back(0);
  return constructors.found();
}

void note_unregistered_tensors_of_export(Graph& graph, const std::vector<std::string>& folders) {
  if (note_unregistered_tensors(graph, folders) > 0) return;
  throw Error(SettingRef{"python_sources"},
              fmt::format("none of the classes of {}'s modules is there.", graph.path),
              "Give the folder that has their packages.");
}

}  // namespace symprof::trace
