// The tokens of one line of Python (The Python Language Reference, "Lexical analysis").
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace symprof::trace {

enum class TokenKind { name, number, string, sign };

struct Token {
  TokenKind kind = TokenKind::name;
  std::string_view text;  ///< A view into the line; a string with its prefix and quotes.
  /// How many brackets of the line are open around it: 1 for x in `f(x)`, 0 for both brackets.
  /// Negative behind brackets that the line closes and did not open.
  int depth = 0;

  bool operator==(std::string_view other) const { return text == other; }
};

using Tokens = std::span<const Token>;

/// Comments are left out. A string that the line does not close ends with the line. The line may be
/// any part of a program: nothing is an error.
std::vector<Token> tokens_of(std::string_view line);

/// The part of the line from the first token to the last.
std::string_view text_of(Tokens tokens);

/// True if the token is this bracket, operator or delimiter; false for a string such as ",".
bool is_sign(const Token& token, std::string_view sign);

/// The first such sign that stands in no bracket of `tokens`; tokens.size() for none.
std::size_t find_sign(Tokens tokens, std::string_view sign);

/// The parts between such signs that stand in no bracket of `tokens`; one part without any sign.
std::vector<Tokens> split_at(Tokens tokens, std::string_view sign);

/// How many tokens the dotted name at the front has: 3 for `self.x(y)`, 0 where none stands there.
std::size_t path_length(Tokens tokens);

/// `x` or `self.x`, and nothing else.
bool is_path(Tokens tokens);

/// True if the first bracket closes with the last token: `(a, b)`, not `(a)(b)`.
bool is_bracketed(Tokens tokens);

/// True if a loop stands inside of the line: `[f(x) for x in xs]`, not `for x in xs: f(x)`.
bool has_comprehension(Tokens tokens);

/// How often `word` stands in `text` as a whole word.
int count_word(std::string_view text, std::string_view word);

}  // namespace symprof::trace
