#include "trace/exported/srepr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace symprof::trace::exported {
namespace {

constexpr int deepest = 200;

enum class Binding { sum, product, atom };

/// A piece of infix text, its outermost operator's precedence, and its divisor.
struct Piece {
  std::string text;
  Binding binding = Binding::atom;
  std::string divisor = {};
};

std::string in_product(const Piece& piece) {
  return piece.binding == Binding::sum ? fmt::format("({})", piece.text) : piece.text;
}

std::string whole(const Piece& piece) {
  return piece.divisor.empty() ? piece.text : fmt::format("({})//{}", piece.text, piece.divisor);
}

Piece sum(const std::vector<Piece>& terms) {
  std::string text;
  for (const Piece& term : terms) {
    if (!text.empty()) text += " + ";
    text += whole(term);
  }
  return {std::move(text), Binding::sum};
}

/// Fractions come last, as one floor division: sympy only keeps them where they divide evenly.
Piece product(const std::vector<Piece>& factors) {
  std::string text, divisor;
  for (const Piece& factor : factors) {
    if (!factor.divisor.empty()) divisor += (divisor.empty() ? "" : "*") + factor.divisor;
    if (factor.text == "1") continue;
    text += (text.empty() ? "" : "*") + in_product(factor);
  }
  if (text.empty()) text = "1";
  if (divisor.empty()) return {std::move(text), Binding::product};
  return {fmt::format("({})//({})", text, divisor), Binding::product};
}

class Parser {
 public:
  Parser(std::string_view text, const Place& place) : text_(text), rest_(text), place_(place) {}

  Piece expression(int depth = 0) {
    if (depth > deepest) broken();
    skip_spaces();
    if (!rest_.empty() && rest_.front() == '\'') return {std::string(quoted()), Binding::atom};
    const std::string_view word =
        rest_.substr(0, std::min(rest_.find_first_of("(,)"), rest_.size()));
    rest_.remove_prefix(word.size());
    if (rest_.empty() || rest_.front() != '(') return {std::string(word), Binding::atom};
    rest_.remove_prefix(1);
    return call(word, arguments(depth));
  }

  void finish() {
    skip_spaces();
    if (!rest_.empty()) broken();
  }

 private:
  [[noreturn]] void broken() { fail(place_, fmt::format("the size '{}' cannot be read", text_)); }

  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  std::string_view quoted() {
    const std::size_t end = rest_.find('\'', 1);
    if (end == std::string_view::npos) broken();
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }

  std::vector<Piece> arguments(int depth) {
    std::vector<Piece> result;
    for (;;) {
      skip_spaces();
      if (rest_.empty()) broken();
      const char next = rest_.front();
      if (next == ')' || next == ',') rest_.remove_prefix(1);
      if (next == ')') return result;
      if (next != ',') result.push_back(expression(depth + 1));
    }
  }

  Piece call(std::string_view function, const std::vector<Piece>& arguments) {
    if (arguments.empty()) broken();
    if (function == "Symbol") return {arguments[0].text, Binding::atom};
    if (function == "Integer")
      return {arguments[0].text, arguments[0].text.starts_with('-') ? Binding::sum : Binding::atom};
    if (function == "Rational" && arguments.size() == 2)
      return {arguments[0].text, Binding::atom, arguments[1].text};
    if (function == "Add") return sum(arguments);
    if (function == "Mul") return product(arguments);
    if (function == "Pow" && arguments.size() == 2) return power(arguments[0], arguments[1]);
    std::vector<std::string> texts;
    texts.reserve(arguments.size());
    for (const Piece& argument : arguments) texts.push_back(whole(argument));
    return {fmt::format("{}({})", function, fmt::join(texts, ", ")), Binding::atom};
  }

  static Piece power(const Piece& base, const Piece& exponent) {
    if (exponent.text == "-1") return {"1", Binding::atom, fmt::format("({})", base.text)};
    return {fmt::format("Pow({}, {})", whole(base), whole(exponent)), Binding::atom};
  }

  std::string_view text_, rest_;
  const Place& place_;
};

}  // namespace

std::string infix(std::string_view srepr, const Place& place) {
  if (srepr.find("Symbol(") == std::string_view::npos) return std::string(srepr);
  Parser parser(srepr, place);
  const Piece result = parser.expression();
  parser.finish();
  return whole(result);
}

}  // namespace symprof::trace::exported
