#include "trace/python/source/written_dtypes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "base/text.h"
#include "trace/python/source/tokens.h"
#include "trace/python/source/written_calls.h"

namespace symprof::trace {
namespace {

/// Methods of a tensor that cast it to the dtype of their name.
constexpr std::array<std::string_view, 10> casting = {
    "float", "half", "bfloat16", "double", "long", "int", "short", "char", "byte", "bool"};

constexpr std::array<std::string_view, 3> casting_to_argument = {"to", "type", "type_as"};

/// The dtype that a name stands for behind a dot or in quotes: `torch.float32`, `"float32"`,
/// `torch.FloatTensor`.
std::optional<DType> dtype_called(std::string_view word) {
  constexpr std::string_view tensor = "Tensor";
  if (!word.ends_with(tensor)) return parse_dtype(word);
  std::string name(word.substr(0, word.size() - tensor.size()));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return parse_dtype(name);
}

/// The last component of a dotted string: "FloatTensor" of "torch.FloatTensor".
std::string_view last_word(std::string_view text) {
  const auto begin = std::ranges::find_if(text, is_word);
  std::string_view words(begin, text.end());
  while (!words.empty() && !is_word(words.back())) words.remove_suffix(1);
  return words.substr(words.rfind('.') == words.npos ? 0 : words.rfind('.') + 1);
}

/// The dtype that an expression names anywhere.
std::optional<DType> dtype_named_in(Tokens expression) {
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const Token& token = expression[i];
    std::optional<DType> dtype;
    if (token.kind == TokenKind::string) {
      dtype = dtype_called(last_word(token.text));
    } else if (token.kind == TokenKind::name) {
      const bool is_builtin = token == "float" || token == "int" || token == "bool";
      if (token == "get_default_dtype")
        dtype = DType::float32;
      else if (is_builtin || (i > 0 && is_sign(expression[i - 1], ".")))
        dtype = dtype_called(token.text);
    }
    if (dtype) return dtype;
  }
  return std::nullopt;
}

WrittenDType of_expression(Tokens expression, bool is_whole) {
  const std::string_view text = text_of(expression);
  if (const auto dtype = dtype_named_in(expression)) return {DTypeSource::named, dtype, text};
  const bool shows = is_whole && !expression.empty();
  return {shows ? DTypeSource::followed : DTypeSource::unknown, std::nullopt, text};
}

/// All arguments of a call, as one expression.
Tokens arguments_of(const WrittenCall& call) {
  if (call.arguments.empty()) return {};
  const Tokens &first = call.arguments.front(), &last = call.arguments.back();
  return {first.data(), last.data() + last.size()};
}

bool casts_to_its_name(const WrittenCall& call) {
  return std::ranges::find(casting, call.function) != casting.end();
}

WrittenDType of_cast(const WrittenCall& call) {
  WrittenDType written =
      of_expression(call.keyword("dtype").value_or(arguments_of(call)), call.is_whole);
  if (casts_to_its_name(call)) written = {DTypeSource::named, parse_dtype(call.function)};
  written.receiver = call.receiver;
  return written;
}

bool is_cast(const WrittenCall& call) {
  if (!call.is_method) return false;
  const bool takes_dtype =
      std::ranges::find(casting_to_argument, call.function) != casting_to_argument.end();
  if (takes_dtype) return !call.arguments.empty() || !call.is_whole;
  return call.arguments.empty() && casts_to_its_name(call);
}

/// Longer lines are generated tables; brackets of a line are searched for each other.
constexpr std::size_t longest_line = 1000;

}  // namespace

std::vector<WrittenDType> written_casts(std::string_view line) {
  std::vector<WrittenDType> casts;
  const std::vector<Token> tokens = tokens_of(line.substr(0, longest_line));
  for (const WrittenCall& call : calls_in(tokens))
    if (is_cast(call)) casts.push_back(of_cast(call));
  return casts;
}

WrittenDType written_dtype(std::string_view line, std::string_view function) {
  std::optional<WrittenDType> found;
  const std::vector<Token> tokens = tokens_of(line.substr(0, longest_line));
  for (const WrittenCall& call : calls_in(tokens)) {
    if (call.function != function) continue;
    const std::optional<Tokens> given = call.keyword("dtype");
    const WrittenDType written = given ? of_expression(*given, true) : WrittenDType{};
    if (found && found->source != written.source) return {};
    found = written;
  }
  return found.value_or(WrittenDType{});
}

}  // namespace symprof::trace
