#include "trace/python/lifetimes/callees.h"
#include "record/module_path.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "trace/graph/module_patterns.h"
#include "trace/python/source/assignment.h"
#include "trace/python/source/own_calls.h"
#include "trace/python/source/tokens.h"

namespace symprof::trace {
namespace {

/// How often the body of `for a in self.layers: x = a(x)` calls a loop variable; 0 for a line that
/// is no such loop.
int calls_of_loop_names(Tokens line, std::string_view body) {
  if (line.empty() || line[0] != "for" || body.data() == line[0].text.data()) return 0;
  int most = 1;
  for (const Token& token : line.subspan(1)) {
    if (token == "in") break;
    if (token.kind == TokenKind::name) most = std::max(most, uses_of_attribute(body, token.text));
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
  const std::vector<Token> tokens = tokens_of(line);
  if (has_comprehension(tokens)) return any;
  const std::string path = module_path(graph_.scopes[static_cast<std::size_t>(module)]);
  const std::string_view body = simple_statement(line);
  const int named = uses_of_attribute(body, attribute_of(path));
  if (named > 0) return named;
  if (const int calls = calls_of_loop_names(tokens, body); calls > 0) return calls;
  return calls_method_of_self(body) ? any : 1;
}

}  // namespace symprof::trace
