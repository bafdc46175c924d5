#include "trace/python/source/tokens.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "trace/python/source/written_calls.h"

namespace symprof::tokens_test {
namespace {

using namespace symprof::trace;
using Texts = std::vector<std::string_view>;

Texts texts(std::string_view line) {
  Texts found;
  for (const Token& token : tokens_of(line)) found.push_back(token.text);
  return found;
}

/// "function(argument|argument)" for each call, and "receiver." before it.
std::vector<std::string> calls(std::string_view line) {
  std::vector<std::string> found;
  const std::vector<Token> tokens = tokens_of(line);
  for (const WrittenCall& call : calls_in(tokens)) {
    std::string text = call.is_method ? std::string(call.receiver) + "." : std::string();
    text += std::string(call.function) + "(";
    for (const Tokens argument : call.arguments) text += std::string(text_of(argument)) + "|";
    found.push_back(text + (call.is_whole ? ")" : ""));
  }
  return found;
}

using Calls = std::vector<std::string>;

}  // namespace

TEST_SUITE("tokens") {
  TEST_CASE("a line is cut as Python's tokenize module cuts it") {
    CHECK(texts("x **= self.a[1:] @ y  # z") ==
          Texts{"x", "**=", "self", ".", "a", "[", "1", ":", "]", "@", "y"});
    CHECK(texts("a!=b, c<=1e-5, d->.5") ==
          Texts{"a", "!=", "b", ",", "c", "<=", "1e-5", ",", "d", "->", ".5"});
    CHECK(texts("f(r'a\\'(' rb\"#\", u)") == Texts{"f", "(", "r'a\\'('", "rb\"#\"", ",", "u", ")"});
    CHECK(texts("'''a 'b' ''' + 'open") == Texts{"'''a 'b' '''", "+", "'open"});
    CHECK(texts("(x := f(...))") == Texts{"(", "x", ":=", "f", "(", "...", ")", ")"});
    CHECK(texts("  # all").empty());
  }

  TEST_CASE("depth counts the open brackets of the line") {
    std::vector<int> depths;
    for (const Token& token : tokens_of("a)(b[c]")) depths.push_back(token.depth);
    CHECK(depths == std::vector<int>{0, -1, -1, 0, 0, 1, 0});
  }

  TEST_CASE("signs inside of brackets and strings separate nothing") {
    const std::vector<Token> tokens = tokens_of("f(a, b), ',', [c, d]");
    const std::vector<Tokens> parts = split_at(tokens, ",");
    REQUIRE(parts.size() == 3);
    CHECK(text_of(parts[0]) == "f(a, b)");
    CHECK(text_of(parts[2]) == "[c, d]");
    CHECK(is_bracketed(parts[2]));
    CHECK_FALSE(is_bracketed(parts[0]));
    CHECK(find_sign(tokens_of("a) = b"), "=") == 4);
  }

  TEST_CASE("dotted names and loops inside of lines") {
    CHECK(path_length(tokens_of("self.x.y(z)")) == 5);
    CHECK(path_length(tokens_of("(x)")) == 0);
    CHECK(is_path(tokens_of("self.x")));
    CHECK(has_comprehension(tokens_of("[f(x) for x in xs]")));
    CHECK_FALSE(has_comprehension(tokens_of("for x in xs: y = ' for '")));
  }

  TEST_CASE("calls come in the order in which Python runs them") {
    CHECK(calls("x = f(a, b=c.d(1)).to(e, )") == Calls{"c.d(1|)", "f(a|b=c.d(1)|)", ".to(e|)"});
    CHECK(calls("return layers[i](x) + self.y.z()") == Calls{"(x|)", ".z()"});
    CHECK(calls("if (a) and not (b): g(h(") == Calls{"g(h(|", "h("});
    const std::vector<Token> tokens = tokens_of("f(a == b, dtype=x.dtype)");
    const std::vector<WrittenCall> found = calls_in(tokens);
    CHECK(text_of(found.at(0).keyword("dtype").value()) == "x.dtype");
    CHECK_FALSE(found.at(0).keyword("a"));
  }
}

}  // namespace symprof::tokens_test
