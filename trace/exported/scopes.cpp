#include "trace/exported/scopes.h"

namespace symprof::trace::exported {
namespace {

/// The exporter's module stack for nodes without a module.
constexpr std::string_view empty_stack = "_empty_nn_module_stack_from_metadata_hook";

std::string_view without_prefix(std::string_view path) {
  for (std::string_view prefix : {"L__self__.", "L['self'].", "self."})
    if (path.starts_with(prefix)) path.remove_prefix(prefix.size());
  return path == "L__self__" || path == "L['self']" || path == "self" ? std::string_view{} : path;
}

/// "@1" of "L__self___lin@1", empty for a first call.
std::string_view call_suffix(std::string_view key) {
  const std::size_t at = key.rfind('@');
  if (at == std::string_view::npos) return {};
  const std::string_view digits = key.substr(at + 1);
  const bool is_number =
      !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? key.substr(at) : std::string_view{};
}

}  // namespace

ScopeId ScopeTable::intern(std::string_view stack) {
  if (stack.empty() || stack.starts_with(empty_stack)) return 0;
  const auto [known, is_new] = stacks_.try_emplace(stack, 0);
  if (!is_new) return known->second;
  ScopeId scope = 0;
  for (std::size_t begin = 0; begin <= stack.size();) {
    const std::size_t end = std::min(stack.find(';', begin), stack.size());
    const std::string_view prefix = stack.substr(0, end);
    const auto [found, is_new_prefix] = prefixes_.try_emplace(prefix, 0);
    if (is_new_prefix) found->second = child(scope, stack.substr(begin, end - begin));
    scope = found->second;
    begin = end + 1;
  }
  known->second = scope;
  return scope;
}

ScopeId ScopeTable::child(ScopeId parent, std::string_view entry) {
  const std::size_t first = entry.find(',');
  const std::size_t last = entry.rfind(',');
  if (first == std::string_view::npos || first == last) return parent;
  const std::string_view key = entry.substr(0, first);
  const std::string_view path = without_prefix(entry.substr(first + 1, last - first - 1));
  std::string type(entry.substr(last + 1));
  if (path.empty()) {
    scopes_[0].type = std::move(type);
    return 0;
  }
  std::string full(path);
  if (!full.ends_with(call_suffix(key))) full += call_suffix(key);
  scopes_.push_back({std::move(full), std::move(type), parent});
  return static_cast<ScopeId>(scopes_.size()) - 1;
}

}  // namespace symprof::trace::exported
