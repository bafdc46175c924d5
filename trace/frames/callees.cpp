#include "trace/frames/callees.h"
#include "record/module_path.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/text.h"
#include "trace/graph/module_patterns.h"

namespace symprof::trace {
namespace {

/// The last component that is no number: "fc" of "block.fc.0".
std::string_view attribute_of(std::string_view path) {
  while (!path.empty()) {
    const std::size_t dot = path.rfind('.');
    const std::string_view last = dot == path.npos ? path : path.substr(dot + 1);
    if (!std::ranges::all_of(last, is_digit)) return last;
    path = dot == path.npos ? std::string_view{} : path.substr(0, dot);
  }
  return {};
}

int count_word(std::string_view text, std::string_view word) {
  int count = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word(text[at - 1]);
    count += begins && (end == text.size() || !is_word(text[end]));
  }
  return count;
}

/// `self.helper(x)` runs whatever modules the helper calls.
bool calls_method(std::string_view line) {
  constexpr std::string_view self = "self.";
  for (std::size_t at = line.find(self); at != line.npos; at = line.find(self, at + 1)) {
    const auto name = line.substr(at + self.size());
    const auto end = std::ranges::find_if_not(name, is_word);
    if (end != name.end() && *end == '(') return true;
  }
  return false;
}

}  // namespace

int CalleeKinds::kind_of(ScopeId module) {
  int& kind = kinds_[static_cast<std::size_t>(module)];
  if (kind >= 0) return kind;
  const std::string path = module_path(graph_.scopes[static_cast<std::size_t>(module)]);
  return kind = known_.try_emplace(without_numbers(path), static_cast<int>(known_.size()))
                    .first->second;
}

int CalleeKinds::most_calls(ScopeId module, const std::string& line) const {
  constexpr int any = std::numeric_limits<int>::max();
  if (line.find(" for ") != line.npos) return any;
  const std::string path = module_path(graph_.scopes[static_cast<std::size_t>(module)]);
  const std::string_view word = attribute_of(path);
  const int named = word.empty() ? 0 : count_word(line, word);
  if (named > 0) return named;
  return calls_method(line) ? any : 1;
}

}  // namespace symprof::trace
