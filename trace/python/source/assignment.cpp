#include "trace/python/source/assignment.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "trace/python/source/tokens.h"
#include "trace/python/source/written_calls.h"

namespace symprof::trace {
namespace {

// Statements that run another one behind their colon.
constexpr std::array<std::string_view, 9> compound = {"if",   "elif",   "else", "for",    "while",
                                                      "with", "except", "try",  "finally"};
constexpr std::array<std::string_view, 5> without_targets = {"assert", "del", "raise", "yield",
                                                             "lambda"};
constexpr std::array<std::string_view, 13> augmented = {
    "+=", "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=", "**=", "//=", ">>=", "<<="};

bool is_among(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view first_word(std::string_view text) {
  return text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin()));
}

/// True if a bracket closes that was not opened: the line begins inside of a statement.
bool begins_inside(Tokens tokens) {
  return std::ranges::any_of(tokens, [](const Token& token) { return token.depth < 0; });
}

/// Positions of the assignment operators outside of brackets.
std::vector<std::size_t> assigning_signs(Tokens tokens) {
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < tokens.size(); ++i)
    if (tokens[i].depth == 0 && tokens[i].kind == TokenKind::sign &&
        (tokens[i] == "=" || is_among(tokens[i].text, augmented)))
      found.push_back(i);
  return found;
}

/// `name` and `self.name` as they are, `name[…]` without its index.
Target parse_target(Tokens tokens) {
  const std::size_t length = path_length(tokens);
  if (length > 0 && length == tokens.size()) return {text_of(tokens)};
  const bool is_element = length > 0 && is_sign(tokens[length], "[") && is_sign(tokens.back(), "]");
  return {is_element ? text_of(tokens.first(length)) : std::string_view{}, false};
}

void add_targets(Tokens tokens, std::vector<Target>& targets) {
  for (Tokens part : split_at(tokens, ",")) {
    while (!part.empty() && is_sign(part[0], "*")) part = part.subspan(1);
    if (part.empty()) continue;
    const bool nested = part.size() > 1 && (is_sign(part[0], "(") || is_sign(part[0], "["));
    if (nested)
      add_targets(part.subspan(1, part.size() - 2), targets);
    else
      targets.push_back(parse_target(part));
  }
}

/// An argument of a call over several lines: `mask=mask,` or `x, dim=1` or `x=f(x), mask=mask`.
bool is_argument(Tokens tokens, const std::vector<std::size_t>& equals) {
  const std::size_t first = equals.front();
  const std::string_view before = tokens[first - 1].text, sign = tokens[first].text;
  if (sign != "=" || before.data() + before.size() != sign.data()) return false;  // Has a space.
  const auto has_comma = [](Tokens part) { return find_sign(part, ",") < part.size(); };
  return is_sign(tokens.back(), ",") || has_comma(tokens.first(first)) ||
         has_comma(tokens.subspan(first + 1, equals.back() - std::min(equals.back(), first + 1)));
}

/// True if an expression begins with a list or a tuple: `[x]`, `(x,)`.
bool begins_with_container(Tokens tokens) {
  if (tokens.empty()) return false;
  if (is_sign(tokens[0], "[")) return true;
  return is_sign(tokens[0], "(") && find_sign(tokens.subspan(1), ",") + 1 < tokens.size();
}

/// xs of `xs += [x]` and of `xs = xs + (x,)`.
std::string_view list_of_sum(const Assignment& assignment, Tokens value, std::string_view sign) {
  if (assignment.targets.size() != 1 || assignment.targets[0].size() != 1) return {};
  const Target& target = assignment.targets[0][0];
  if (!target.replaces || (sign != "=" && sign != "+=")) return {};
  if (sign == "=") {
    const std::size_t length = path_length(value);
    if (length + 1 >= value.size() || text_of(value.first(length)) != target.name ||
        !is_sign(value[length], "+"))
      return {};
    value = value.subspan(length + 1);
  }
  return begins_with_container(value) ? target.name : std::string_view{};
}

/// xs of `xs.append(x)`.
std::string_view list_of_call(Tokens tokens) {
  constexpr std::array<std::string_view, 4> keeping = {"append", "extend", "insert", "add"};
  const std::size_t length = path_length(tokens);
  if (length < 3 || length == tokens.size() || !is_sign(tokens[length], "(")) return {};
  return is_among(tokens[length - 1].text, keeping) ? text_of(tokens.first(length - 2))
                                                    : std::string_view{};
}

Assignment parse_simple(Tokens tokens) {
  Assignment found;
  if (tokens.empty() || begins_inside(tokens)) return found;
  const std::vector<std::size_t> equals = assigning_signs(tokens);
  if (equals.empty()) found.keeper = list_of_call(tokens);
  if (equals.empty() || is_argument(tokens, equals)) return found;
  std::size_t begin = 0;
  for (const std::size_t one : equals) {
    const Tokens target = tokens.subspan(begin, one - begin);
    add_targets(target.first(find_sign(target, ":")), found.targets.emplace_back());
    begin = one + 1;
  }
  const Tokens value = tokens.subspan(begin);
  found.value = text_of(value);
  found.keeper = list_of_sum(found, value, tokens[equals[0]].text);
  return found;
}

/// A name of Python, and no constant.
bool is_name(Tokens tokens) {
  return tokens.size() == 1 && tokens[0].kind == TokenKind::name && tokens[0] != "None" &&
         tokens[0] != "True" && tokens[0] != "False";
}

/// A number, a constant or an empty container.
bool is_literal(Tokens tokens) {
  if (tokens.size() == 2) return is_bracketed(tokens);
  return tokens.size() == 1 && (tokens[0].kind == TokenKind::number ||
                                (tokens[0].kind == TokenKind::name && !is_name(tokens)));
}

/// True if the line is `x = …` or `x, y = …`, with plain names and nothing before them.
bool binds_names(Tokens tokens, const Assignment& assignment) {
  if (assignment.targets.empty() || !assignment.keeper.empty()) return false;
  const Tokens first = tokens.first(find_sign(tokens, "="));
  return first.size() < tokens.size() && std::ranges::all_of(first, [](const Token& token) {
           return token.kind == TokenKind::name ? !is_among(token.text, compound)
                                                : token == "," || token == "(" || token == ")";
         });
}

/// The expressions that the line binds; nothing where it does not bind plain names.
std::vector<Tokens> plainly_bound(Tokens tokens) {
  const Assignment assignment = parse_assignment(text_of(tokens));
  if (!binds_names(tokens, assignment)) return {};
  for (const std::vector<Target>& group : assignment.targets)
    for (const Target& target : group)
      if (!target.replaces || target.name.find('.') != target.name.npos) return {};
  return split_at(tokens.subspan(assigning_signs(tokens).back() + 1), ",");
}

/// Adds the names in what an expression makes a container or an object of.
void add_names(Tokens tokens, std::vector<std::string_view>& names) {
  if (tokens.empty()) return;
  if (tokens.size() == 1) {
    if (tokens[0].kind == TokenKind::name) names.push_back(tokens[0].text);
    return;
  }
  if (const std::vector<Tokens> parts = split_at(tokens, ","); parts.size() > 1) {
    for (const Tokens part : parts) add_names(part, names);
    return;
  }
  const std::size_t sign = std::min(find_sign(tokens, ":"), find_sign(tokens, "="));
  if (sign < tokens.size())  // An entry of a dictionary, an argument.
    return add_names(tokens.subspan(sign + 1), names);
  const std::size_t length = path_length(tokens);
  const bool makes_object =
      length > 0 && std::isupper(static_cast<unsigned char>(tokens[length - 1].text[0])) != 0;
  const Tokens brackets = tokens.subspan(length);
  if ((length == 0 || makes_object) && is_bracketed(brackets))
    add_names(brackets.subspan(1, brackets.size() - 2), names);
}

}  // namespace

bool reads_name(std::string_view line, const Assignment& assignment, std::string_view name) {
  return count_word(assignment.targets.empty() ? line : assignment.value, name) > 0;
}

std::vector<std::string_view> returned_names(std::string_view line) {
  const std::vector<Token> tokens = tokens_of(simple_statement(line));
  std::vector<std::string_view> names;
  if (!tokens.empty() && tokens[0] == "return") add_names(Tokens(tokens).subspan(1), names);
  return names;
}

bool Assignment::assigns_one_call() const {
  const std::vector<Token> tokens = tokens_of(value);
  return !tokens.empty() && !is_sign(tokens[0], "(") && find_sign(tokens, "(") < tokens.size() &&
         find_sign(tokens, ",") == tokens.size();
}

std::string_view simple_statement(std::string_view line) {
  std::string_view text = trimmed(line);
  while (is_among(first_word(text), compound)) {
    const std::vector<Token> tokens = tokens_of(text);
    const std::size_t colon = find_sign(tokens, ":");
    if (colon == tokens.size()) return {};
    text = text_of(Tokens(tokens).subspan(colon + 1));
  }
  return text;
}

std::vector<std::string_view> deleted_names(std::string_view line) {
  std::vector<std::string_view> names;
  if (first_word(trimmed(line)) != "del") return names;
  const std::vector<Token> tokens = tokens_of(line);
  for (const Tokens name : split_at(Tokens(tokens).subspan(1), ","))
    if (is_name(name)) names.push_back(name[0].text);
  return names;
}

bool is_plain_copy(std::string_view line) {
  const std::vector<Token> tokens = tokens_of(line);
  const std::vector<Tokens> values = plainly_bound(tokens);
  return values.size() == 1 && is_name(values[0]) && assigning_signs(tokens).size() == 1 &&
         find_sign(tokens, ",") == tokens.size();
}

bool binds_plainly(std::string_view line) {
  if (is_plain_copy(line) || !deleted_names(line).empty()) return true;
  const std::vector<Token> tokens = tokens_of(line);
  const std::vector<Tokens> values = plainly_bound(tokens);
  return !values.empty() && std::ranges::all_of(values, is_literal);
}

std::string_view joined_list(std::string_view line) {
  constexpr std::array<std::string_view, 4> joins = {"cat", "concat", "concatenate", "stack"};
  const std::vector<Token> tokens = tokens_of(line);
  for (const WrittenCall& call : calls_in(tokens)) {
    const bool is_read = call.is_whole || call.arguments.size() > 1;
    if (is_read && is_among(call.function, joins) && !call.arguments.empty() &&
        is_path(call.arguments[0]))
      return text_of(call.arguments[0]);
  }
  return {};
}

Assignment parse_assignment(std::string_view line) {
  const std::string_view text = simple_statement(line), word = first_word(text);
  const std::vector<Token> tokens = tokens_of(text);
  if (word == "return") return {.returns = tokens.size() > 1, .targets = {}};
  if (is_among(word, without_targets)) return {};
  return parse_simple(tokens);
}

}  // namespace symprof::trace
