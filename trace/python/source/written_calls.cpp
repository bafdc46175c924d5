#include "trace/python/source/written_calls.h"

#include <algorithm>
#include <array>

namespace symprof::trace {
namespace {

/// Words of the language that brackets may follow.
constexpr std::array<std::string_view, 15> keywords = {"if",  "elif",   "while", "for",  "in",
                                                       "is",  "and",    "or",    "not",  "return",
                                                       "del", "assert", "yield", "with", "lambda"};

bool is_callable_name(const Token& token) {
  return token.kind == TokenKind::name && std::ranges::find(keywords, token.text) == keywords.end();
}

/// The call whose arguments the bracket at `open` begins; no function for other brackets.
WrittenCall call_at(Tokens tokens, std::size_t open) {
  WrittenCall call;
  if (is_callable_name(tokens[open - 1])) call.function = tokens[open - 1].text;
  call.is_method = open > 1 && is_sign(tokens[open - 2], ".");
  const bool is_plain = call.is_method && open > 2 && tokens[open - 3].kind == TokenKind::name &&
                        (open == 3 || !is_sign(tokens[open - 4], "."));
  if (is_plain) call.receiver = tokens[open - 3].text;
  const Tokens rest = tokens.subspan(open + 1);
  const auto close = std::ranges::find_if(
      rest, [&](const Token& token) { return token.depth <= tokens[open].depth; });
  call.is_whole = close != rest.end();
  if (call.is_whole) call.close = &*close;
  const Tokens given = rest.first(static_cast<std::size_t>(close - rest.begin()));
  if (!given.empty()) call.arguments = split_at(given, ",");
  if (!call.arguments.empty() && call.arguments.back().empty()) call.arguments.pop_back();
  return call;
}

}  // namespace

std::optional<Tokens> WrittenCall::keyword(std::string_view name) const {
  for (const Tokens argument : arguments)
    if (argument.size() > 1 && argument[0] == name && is_sign(argument[1], "="))
      return argument.subspan(2);
  return std::nullopt;
}

std::vector<WrittenCall> calls_in(Tokens tokens) {
  std::vector<WrittenCall> calls;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (!is_sign(tokens[i], "(")) continue;
    if (is_callable_name(tokens[i - 1]) || is_sign(tokens[i - 1], "]"))
      calls.push_back(call_at(tokens, i));
  }
  const Token* const behind = tokens.data() + tokens.size();
  std::ranges::stable_sort(calls, {}, [&](const WrittenCall& call) {
    return call.close == nullptr ? behind : call.close;
  });
  return calls;
}

}  // namespace symprof::trace
