#include "trace/frames/callees.h"
#include "record/module_path.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "base/text.h"
#include "trace/frames/assignment.h"
#include "trace/frames/own_calls.h"
#include "trace/graph/module_patterns.h"

namespace symprof::trace {
namespace {

/// How often the body of `for a in self.layers: x = a(x)` calls what the loop gives a name to; 0
/// for a line that is no such loop.
int calls_of_loop_names(std::string_view line, std::string_view body) {
  constexpr std::string_view loop = "for ", among = " in ";
  if (!line.starts_with(loop) || body.size() == line.size()) return 0;
  const std::string_view names = line.substr(loop.size(), line.find(among) - loop.size());
  int most = 1;
  for (std::size_t at = 0; at < names.size();) {
    const auto begin =
        std::find_if(names.begin() + static_cast<std::ptrdiff_t>(at), names.end(), is_word);
    const auto end = std::find_if_not(begin, names.end(), is_word);
    if (begin == end) break;
    most = std::max(most, uses_of_attribute(body, std::string_view(begin, end)));
    at = static_cast<std::size_t>(end - names.begin());
  }
  return most;
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
  const std::string_view body = simple_statement(line);
  const int named = uses_of_attribute(body, attribute_of(path));
  if (named > 0) return named;
  if (const int calls = calls_of_loop_names(trimmed(line), body); calls > 0) return calls;
  return calls_method_of_self(body) ? any : 1;
}

}  // namespace symprof::trace
