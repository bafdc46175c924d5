#include "shape/eager/root_names.h"

#include <algorithm>

namespace symprof::shape {
namespace {

void drop_prefix(std::string& path, const std::string& root) {
  if (path == root)
    path.clear();
  else if (path.starts_with(root + "."))
    path.erase(0, root.size() + 1);
}

}  // namespace

void drop_root(Recording& recording, const std::string& root) {
  const auto found = std::ranges::find(recording.modules, root, &ModuleRecord::path);
  if (found == recording.modules.end()) return;
  const auto id = static_cast<std::int32_t>(found - recording.modules.begin());
  recording.modules.front().type = found->type;  // The first one is the program's root.
  for (ModuleRecord& module : recording.modules) drop_prefix(module.path, root);
  for (NodeRecord& node : recording.nodes) {
    drop_prefix(node.module, root);
    std::erase(node.scopes, id);
  }
}

}  // namespace symprof::shape
