#include "trace/frames/written_dtypes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "base/text.h"

namespace symprof::trace {
namespace {

/// Methods of a tensor that cast it to the dtype of their name.
constexpr std::array<std::string_view, 10> casting = {
    "float", "half", "bfloat16", "double", "long", "int", "short", "char", "byte", "bool"};

constexpr std::array<std::string_view, 3> casting_to_argument = {"to", "type", "type_as"};

/// A call in a line: what is called, and what it is given.
struct WrittenCall {
  std::string_view function;  ///< Its last name: "to" of `x.to(…)`.
  bool is_method = false;
  std::string_view receiver;  ///< The name before that, if it is plain: "x".
  std::string_view arguments;
  std::size_t end = 0;  ///< Where it closes; the length of the line where it goes on below.
  bool is_whole = true;
};

/// Where the bracket that opens at `begin` closes.
std::size_t closing_bracket(std::string_view line, std::size_t begin) {
  int depth = 0;
  char quote = 0;
  for (std::size_t i = begin; i < line.size(); ++i) {
    const char letter = line[i];
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
    } else if (letter == '(' || letter == '[' || letter == '{') {
      ++depth;
    } else if ((letter == ')' || letter == ']' || letter == '}') && --depth == 0) {
      return i;
    }
  }
  return line.size();
}

std::string_view word_before(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_word(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

/// Empty for a part of something: `self.x`, `f(x)`.
std::string_view plain_name_before(std::string_view line, std::size_t end) {
  const std::string_view word = word_before(line, end);
  const std::size_t begin = end - word.size();
  return begin > 0 && line[begin - 1] == '.' ? std::string_view{} : word;
}

std::vector<WrittenCall> calls_in(std::string_view line) {
  std::vector<WrittenCall> calls;
  for (std::size_t at = line.find('('); at != line.npos; at = line.find('(', at + 1)) {
    WrittenCall call{.function = word_before(line, at)};
    if (call.function.empty()) continue;
    const std::size_t begin = at - call.function.size();
    call.is_method = begin > 0 && line[begin - 1] == '.';
    if (call.is_method) call.receiver = plain_name_before(line, begin - 1);
    call.end = closing_bracket(line, at);
    call.is_whole = call.end < line.size();
    call.arguments = trimmed(line.substr(at + 1, call.end - at - 1));
    calls.push_back(call);
  }
  std::ranges::stable_sort(calls, {}, &WrittenCall::end);
  return calls;
}

/// `torch.float32`, `"float32"`, `torch.FloatTensor`; `float`, which is a name of Python's own.
std::optional<DType> named_dtype(std::string_view word, char before) {
  if (word == "get_default_dtype") return DType::float32;
  const bool is_builtin = word == "float" || word == "int" || word == "bool";
  if (before != '.' && before != '"' && before != '\'' && !is_builtin) return std::nullopt;
  constexpr std::string_view tensor = "Tensor";
  std::string name(word.ends_with(tensor) ? word.substr(0, word.size() - tensor.size()) : word);
  if (name.size() < word.size())
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return parse_dtype(name);
}

/// The dtype that an expression names anywhere.
std::optional<DType> dtype_named_in(std::string_view expression) {
  for (std::size_t begin = 0; begin < expression.size();) {
    if (!is_word(expression[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < expression.size() && is_word(expression[end])) ++end;
    const char before = begin > 0 ? expression[begin - 1] : ' ';
    if (const auto dtype = named_dtype(expression.substr(begin, end - begin), before)) return dtype;
    begin = end;
  }
  return std::nullopt;
}

/// The elements of a list of arguments.
std::vector<std::string_view> elements_of(std::string_view arguments) {
  std::vector<std::string_view> elements;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == '(' || arguments[i] == '[' || arguments[i] == '{')
      i = std::min(closing_bracket(arguments, i), arguments.size() - 1);
    if (arguments[i] != ',') continue;
    elements.push_back(trimmed(arguments.substr(begin, i - begin)));
    begin = i + 1;
  }
  elements.push_back(trimmed(arguments.substr(begin)));
  return elements;
}

/// What an argument `dtype=…` is given; empty where there is none.
std::string_view keyword(const std::vector<std::string_view>& arguments, std::string_view name) {
  for (std::string_view argument : arguments) {
    if (!argument.starts_with(name)) continue;
    const std::string_view rest = trimmed(argument.substr(name.size()));
    if (rest.starts_with('=') && !rest.starts_with("==")) return trimmed(rest.substr(1));
  }
  return {};
}

WrittenDType of_expression(std::string_view expression, bool is_whole) {
  if (const auto dtype = dtype_named_in(expression)) return {DTypeSource::named, dtype, expression};
  const bool shows = is_whole && !expression.empty();
  return {shows ? DTypeSource::followed : DTypeSource::unknown, std::nullopt, expression};
}

WrittenDType of_cast(const WrittenCall& call) {
  const std::vector<std::string_view> arguments = elements_of(call.arguments);
  const std::string_view dtype = keyword(arguments, "dtype");
  WrittenDType written = of_expression(dtype.empty() ? call.arguments : dtype, call.is_whole);
  if (std::ranges::find(casting, call.function) != casting.end())
    written = {DTypeSource::named, parse_dtype(call.function)};
  written.receiver = call.receiver;
  return written;
}

bool is_cast(const WrittenCall& call) {
  if (!call.is_method) return false;
  const bool takes_dtype =
      std::ranges::find(casting_to_argument, call.function) != casting_to_argument.end();
  if (takes_dtype) return !call.arguments.empty() || !call.is_whole;
  return call.arguments.empty() && std::ranges::find(casting, call.function) != casting.end();
}

/// Nobody writes longer lines of code; brackets of a line are searched for each other.
constexpr std::size_t longest_line = 1000;

std::string_view without_comment(std::string_view line) {
  return line.substr(0, std::min({line.find(" #"), line.size(), longest_line}));
}

}  // namespace

std::vector<WrittenDType> written_casts(std::string_view line) {
  std::vector<WrittenDType> casts;
  for (const WrittenCall& call : calls_in(without_comment(line)))
    if (is_cast(call)) casts.push_back(of_cast(call));
  return casts;
}

WrittenDType written_dtype(std::string_view line, std::string_view function) {
  std::optional<WrittenDType> found;
  for (const WrittenCall& call : calls_in(without_comment(line))) {
    if (call.function != function) continue;
    const std::string_view given = keyword(elements_of(call.arguments), "dtype");
    const WrittenDType written = given.empty() ? WrittenDType{} : of_expression(given, true);
    if (found && found->source != written.source) return {};
    found = written;
  }
  return found.value_or(WrittenDType{});
}

}  // namespace symprof::trace
