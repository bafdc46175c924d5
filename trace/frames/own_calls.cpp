#include "trace/frames/own_calls.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "trace/frames/assignment.h"

namespace symprof::trace {
namespace {

struct Operator {
  std::string_view name, sign;
};

/// Python's operators by the functions of PyTorch that they call, without underscores around them,
/// and `i` or `r` before those that change their left side or belong to the right one.
constexpr std::array operators = {
    Operator{"add", "+"},          Operator{"sub", "-"},
    Operator{"mul", "*"},          Operator{"div", "/"},
    Operator{"truediv", "/"},      Operator{"true_divide", "/"},
    Operator{"floordiv", "//"},    Operator{"floor_divide", "//"},
    Operator{"mod", "%"},          Operator{"remainder", "%"},
    Operator{"matmul", "@"},       Operator{"pow", "**"},
    Operator{"neg", "-"},          Operator{"eq", "=="},
    Operator{"ne", "!="},          Operator{"lt", "<"},
    Operator{"le", "<="},          Operator{"gt", ">"},
    Operator{"ge", ">="},          Operator{"and", "&"},
    Operator{"bitwise_and", "&"},  Operator{"logical_and", "&"},
    Operator{"or", "|"},           Operator{"bitwise_or", "|"},
    Operator{"logical_or", "|"},   Operator{"xor", "^"},
    Operator{"invert", "~"},       Operator{"bitwise_not", "~"},
    Operator{"logical_not", "~"},  Operator{"getitem", "["},
    Operator{"setitem", "["},      Operator{"slice", "["},
    Operator{"select", "["},       Operator{"index", "["},
    Operator{"index_put", "["},    Operator{"copy", "["},
    Operator{"unsqueeze", "None"}, Operator{"get", "."},
};

std::string_view without_underscores(std::string_view name) {
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

std::string_view sign_of(std::string_view name) {
  for (const bool shortened : {false, true}) {
    if (shortened && (name.size() < 2 || (name[0] != 'i' && name[0] != 'r'))) break;
    const auto found = std::ranges::find(operators, name.substr(shortened), &Operator::name);
    if (found != operators.end()) return found->sign;
  }
  return {};
}

/// Calls `visit(name, at)` for each name that a bracket follows: `name` is empty in `layers[i](x)`,
/// and begins at `at`.
template <class Visit>
void for_each_called(std::string_view text, Visit&& visit) {
  for (std::size_t at = text.find('('); at != text.npos; at = text.find('(', at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    if (begin < at || (at > 0 && text[at - 1] == ']')) visit(text.substr(begin, at - begin), begin);
  }
}

/// Whether `text` calls something by a name of its own: `layer(x)`, `layers[i](x)`.
bool calls_local_name(std::string_view text) {
  bool found = false;
  for_each_called(text, [&](std::string_view name, std::size_t at) {
    found |= name.empty() || at == 0 || text[at - 1] != '.';
  });
  return found;
}

int count_sign(std::string_view text, std::string_view sign) {
  int count = 0;
  for (std::size_t at = text.find(sign); at != text.npos; at = text.find(sign, at + sign.size()))
    ++count;
  return count;
}

/// Calls `visit(begin, end)` for each place where `word` stands as a whole word.
template <class Visit>
void for_each_word(std::string_view text, std::string_view word, Visit&& visit) {
  if (word.empty()) return;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !is_word(text[at - 1]);
    if (begins && (end == text.size() || !is_word(text[end]))) visit(at, end);
  }
}

}  // namespace

int count_word(std::string_view text, std::string_view word) {
  int count = 0;
  for_each_word(text, word, [&](std::size_t, std::size_t) { ++count; });
  return count;
}

std::string_view attribute_of(std::string_view path) {
  while (!path.empty()) {
    const std::size_t dot = path.rfind('.');
    const std::string_view last = dot == path.npos ? path : path.substr(dot + 1);
    if (!std::ranges::all_of(last, is_digit)) return last;
    path = dot == path.npos ? std::string_view{} : path.substr(0, dot);
  }
  return {};
}

int uses_of_attribute(std::string_view line, std::string_view name) {
  int attributes = 0, others = 0;
  for_each_word(line, name, [&](std::size_t begin, std::size_t end) {
    if (begin > 0 && line[begin - 1] == '.')
      ++attributes;
    else if (end < line.size() && (line[end] == '(' || line[end] == '['))
      ++others;
  });
  return attributes > 0 ? attributes : others;
}

bool calls_method_of_self(std::string_view line) {
  constexpr std::string_view self = "self.";
  for (std::size_t at = line.find(self); at != line.npos; at = line.find(self, at + 1)) {
    const auto name = line.substr(at + self.size());
    const auto end = std::ranges::find_if_not(name, is_word);
    if (end != name.end() && *end == '(') return true;
  }
  return false;
}

bool calls_forward_itself(std::string_view line) { return count_calls_of_forward(line) > 0; }

int count_calls_of_forward(std::string_view line) { return count_sign(line, ".forward("); }

bool hands_on_arguments(std::string_view line) {
  constexpr std::string_view returns = "return ", keywords = ", **";
  line = trimmed(line);
  const std::size_t open = line.rfind('('), given = line.find('*', open);
  const std::size_t named = line.find(keywords, given);
  if (!line.starts_with(returns) || !line.ends_with(')') || named == line.npos) return false;
  const auto is_name = [&](std::size_t begin, std::size_t end) {
    return begin < end && std::ranges::all_of(line.substr(begin, end - begin), is_word);
  };
  const std::string_view function = line.substr(returns.size(), open - returns.size());
  return is_name(given + 1, named) && is_name(named + keywords.size(), line.size() - 1) &&
         std::ranges::all_of(function,
                             [](char c) { return is_word(c) || c == '.' || c == '(' || c == ')'; });
}

bool gives_to_keeper(std::string_view line) {
  constexpr std::array<std::string_view, 10> keeping = {"update", "append",    "extend", "insert",
                                                        "push",   "enqueue",   "put",    "store",
                                                        "record", "setdefault"};
  bool keeps = false;
  for_each_called(line, [&](std::string_view name, std::size_t begin) {
    const bool is_method = begin > 0 && line[begin - 1] == '.';
    keeps |= is_method && std::ranges::find(keeping, name) != keeping.end();
  });
  return keeps;
}

std::string_view function_of(std::string_view call) {
  call = call.substr(0, call.find(';'));
  const std::size_t end = call.find_last_not_of("0123456789");
  if (end != call.npos && end > 0 && end + 1 < call.size() && call[end] == '_')
    return call.substr(0, end);
  return call;
}

int times_called(std::string_view line, std::string_view function) {
  const std::string_view plain = without_underscores(function), sign = sign_of(plain);
  const int names = count_word(line, plain) + (plain == function ? 0 : count_word(line, function));
  return names + (sign.empty() ? 0 : count_sign(line, sign));
}

bool names_no_other_call(std::string_view line, const std::vector<std::string_view>& functions) {
  constexpr std::array<std::string_view, 8> plain = {"range", "len", "int", "float",
                                                     "zip",   "min", "max", "enumerate"};
  bool only = true;
  for_each_called(line, [&](std::string_view name, std::size_t) {
    only &= std::ranges::find(functions, name) != functions.end() ||
            std::ranges::find(plain, name) != plain.end();
  });
  return only;
}

bool calls_function(std::string_view line, std::string_view call) {
  return times_called(line, function_of(call)) > 0;
}

bool calls_once(std::string_view line, std::string_view function) {
  const std::string_view text = simple_statement(line);
  return text.find(" for ") == text.npos && count_word(text, "map") == 0 &&
         count_word(text, function) <= 1;
}

bool calls_module(std::string_view line, std::string_view path) {
  if (uses_of_attribute(line, attribute_of(path)) > 0) return true;
  const bool is_element = !path.empty() && is_digit(path.back());
  return is_element && calls_local_name(line);
}

bool has_frame(std::string_view call) { return call.find(";function.") != call.npos; }

}  // namespace symprof::trace
