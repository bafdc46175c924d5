#include "trace/python/source/own_calls.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "trace/python/source/assignment.h"
#include "trace/python/source/tokens.h"
#include "trace/python/source/written_calls.h"

namespace symprof::trace {
namespace {

struct Operator {
  std::string_view name, sign;
};

/// Python's operators, by the name of PyTorch's function for each, without underscores. The prefix
/// `i` means the in-place form (`__iadd__`), `r` the reflected one (`__radd__`).
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

/// How often the operator stands in a line, `+=` for `+` included.
int count_sign(Tokens tokens, std::string_view sign) {
  return static_cast<int>(std::ranges::count_if(tokens, [&](const Token& token) {
    if (token.kind == TokenKind::name) return token == sign;  // None.
    return token.kind == TokenKind::sign &&
           (token == sign ||
            (token.text.size() == sign.size() + 1 && token.text.starts_with(sign) &&
             token.text.back() == '=' && sign.find_first_of("=<>!") == sign.npos));
  }));
}

/// True if the line calls something by a name of its own: `layer(x)`, `layers[i](x)`.
bool calls_local_name(std::string_view line) {
  const std::vector<Token> tokens = tokens_of(line);
  return std::ranges::any_of(calls_in(tokens),
                             [](const WrittenCall& call) { return !call.is_method; });
}

}  // namespace

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
  if (name.empty() || line.find(name) == line.npos) return 0;
  int attributes = 0, others = 0;
  const std::vector<Token> tokens = tokens_of(line);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::name || tokens[i] != name) continue;
    if (i > 0 && is_sign(tokens[i - 1], "."))
      ++attributes;
    else if (i + 1 < tokens.size() && (is_sign(tokens[i + 1], "(") || is_sign(tokens[i + 1], "[")))
      ++others;
  }
  return attributes > 0 ? attributes : others;
}

bool calls_method_of_self(std::string_view line) {
  if (line.find("self") == line.npos) return false;
  const std::vector<Token> tokens = tokens_of(line);
  return std::ranges::any_of(calls_in(tokens), [](const WrittenCall& call) {
    return call.is_method && call.receiver == "self";
  });
}

bool calls_forward_itself(std::string_view line) { return count_calls_of_forward(line) > 0; }

int count_calls_of_forward(std::string_view line) {
  if (line.find("forward") == line.npos) return 0;
  const std::vector<Token> tokens = tokens_of(line);
  return static_cast<int>(std::ranges::count_if(calls_in(tokens), [](const WrittenCall& call) {
    return call.is_method && call.function == "forward";
  }));
}

bool hands_on_arguments(std::string_view line) {
  const std::vector<Token> tokens = tokens_of(line);
  if (tokens.empty() || tokens[0] != "return") return false;
  const Tokens value = Tokens(tokens).subspan(1);
  const std::vector<WrittenCall> calls = calls_in(value);
  if (calls.empty() || calls.back().close != &tokens.back()) return false;
  const std::vector<Tokens>& given = calls.back().arguments;
  const auto unpacks = [](Tokens argument, std::string_view sign) {
    return argument.size() == 2 && is_sign(argument[0], sign) &&
           argument[1].kind == TokenKind::name;
  };
  if (given.size() < 2 || !unpacks(given[given.size() - 2], "*") || !unpacks(given.back(), "**"))
    return false;
  const Tokens function = value.first(static_cast<std::size_t>(&given[0][0] - value.data()));
  return std::ranges::all_of(function, [](const Token& token) {
    return token.kind == TokenKind::name || token == "." || token == "(" || token == ")";
  });
}

bool gives_to_keeper(std::string_view line) {
  constexpr std::array<std::string_view, 10> keeping = {"update", "append",    "extend", "insert",
                                                        "push",   "enqueue",   "put",    "store",
                                                        "record", "setdefault"};
  const std::vector<Token> tokens = tokens_of(line);
  return std::ranges::any_of(calls_in(tokens), [&](const WrittenCall& call) {
    return call.is_method && std::ranges::find(keeping, call.function) != keeping.end();
  });
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
  return names + (sign.empty() ? 0 : count_sign(tokens_of(line), sign));
}

bool names_no_other_call(std::string_view line, const std::vector<std::string_view>& functions) {
  constexpr std::array<std::string_view, 8> plain = {"range", "len", "int", "float",
                                                     "zip",   "min", "max", "enumerate"};
  const std::vector<Token> tokens = tokens_of(line);
  return std::ranges::all_of(calls_in(tokens), [&](const WrittenCall& call) {
    return std::ranges::find(functions, call.function) != functions.end() ||
           std::ranges::find(plain, call.function) != plain.end();
  });
}

bool calls_function(std::string_view line, std::string_view call) {
  return times_called(line, function_of(call)) > 0;
}

bool calls_once(std::string_view line, std::string_view function) {
  const std::vector<Token> tokens = tokens_of(simple_statement(line));
  return !has_comprehension(tokens) && count_word(line, "map") == 0 &&
         count_word(text_of(tokens), function) <= 1;
}

bool calls_module(std::string_view line, std::string_view path) {
  if (uses_of_attribute(line, attribute_of(path)) > 0) return true;
  const bool is_element = !path.empty() && is_digit(path.back());
  return is_element && calls_local_name(line);
}

bool has_frame(std::string_view call) { return call.find(";function.") != call.npos; }

}  // namespace symprof::trace
