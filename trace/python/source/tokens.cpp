#include "trace/python/source/tokens.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace symprof::trace {
namespace {

/// Operators and delimiters of more than one letter, the longest first.
constexpr std::array<std::string_view, 25> long_signs = {
    "**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "->", ":=", "==", "!=",
    "<=",  ">=",  "+=",  "-=",  "*=",  "/=", "%=", "@=", "&=", "|=", "^=", "<>"};

constexpr std::string_view openers = "([{", closers = ")]}";

bool is_among(char letter, std::string_view letters) {
  return letters.find(letter) != letters.npos;
}

/// How many letters before a quote belong to the string that it begins: r, b, f, u and pairs.
std::size_t string_prefix(std::string_view text) {
  std::size_t length = 0;
  while (length < 3 && length < text.size() && is_among(text[length], "rRbBfFuU")) ++length;
  const bool is_string = length < text.size() && is_among(text[length], "'\"");
  return is_string ? length : 0;
}

/// The length of the string at the front, its prefix included.
std::size_t string_length(std::string_view text, std::size_t prefix) {
  const char quote = text[prefix];
  const std::string_view triple = text.substr(prefix, 3);
  const bool is_triple = triple.size() == 3 && std::ranges::count(triple, quote) == 3;
  const std::string_view end = is_triple ? triple : triple.substr(0, 1);
  for (std::size_t i = prefix + end.size(); i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text.substr(i, end.size()) == end)
      return i + end.size();
  }
  return text.size();
}

/// `1e-5` and `0.5` are one token; `1.0.item` does not occur.
std::size_t number_length(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && (is_word(text[i]) || text[i] == '.' ||
                             (is_among(text[i], "+-") && is_among(text[i - 1], "eE"))))
    ++i;
  return i;
}

std::size_t sign_length(std::string_view text) {
  const auto found = std::ranges::find_if(
      long_signs, [&](std::string_view sign) { return text.starts_with(sign); });
  return found == long_signs.end() ? 1 : found->size();
}

Token token_at_front(std::string_view text) {
  const auto token = [&](TokenKind kind, std::size_t length) {
    return Token{kind, text.substr(0, length)};
  };
  const std::size_t prefix = string_prefix(text);
  if (prefix > 0 || is_among(text[0], "'\""))
    return token(TokenKind::string, string_length(text, prefix));
  const bool is_fraction = text[0] == '.' && text.size() > 1 && is_digit(text[1]);
  if (is_digit(text[0]) || is_fraction) return token(TokenKind::number, number_length(text));
  if (!is_word(text[0])) return token(TokenKind::sign, sign_length(text));
  const auto end = std::ranges::find_if_not(text, is_word);
  return token(TokenKind::name, static_cast<std::size_t>(end - text.begin()));
}

}  // namespace

std::vector<Token> tokens_of(std::string_view line) {
  std::vector<Token> tokens;
  int depth = 0;
  for (line = trimmed(line); !line.empty() && line[0] != '#'; line = trimmed(line)) {
    Token token = token_at_front(line);
    line.remove_prefix(token.text.size());
    const bool is_bracket = token.kind == TokenKind::sign && token.text.size() == 1;
    if (is_bracket && is_among(token.text[0], closers)) --depth;
    token.depth = depth;
    if (is_bracket && is_among(token.text[0], openers)) ++depth;
    tokens.push_back(token);
  }
  return tokens;
}

std::string_view text_of(Tokens tokens) {
  if (tokens.empty()) return {};
  const char* begin = tokens.front().text.data();
  const std::string_view last = tokens.back().text;
  return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
}

bool is_sign(const Token& token, std::string_view sign) {
  return token.kind == TokenKind::sign && token.text == sign;
}

std::size_t find_sign(Tokens tokens, std::string_view sign) {
  for (std::size_t i = 0; i < tokens.size() && tokens[i].depth >= tokens[0].depth; ++i)
    if (tokens[i].depth == tokens[0].depth && is_sign(tokens[i], sign)) return i;
  return tokens.size();
}

std::vector<Tokens> split_at(Tokens tokens, std::string_view sign) {
  std::vector<Tokens> parts;
  std::size_t at = find_sign(tokens, sign);
  for (; at < tokens.size(); at = find_sign(tokens, sign)) {
    parts.push_back(tokens.first(at));
    tokens = tokens.subspan(at + 1);
  }
  parts.push_back(tokens);
  return parts;
}

std::size_t path_length(Tokens tokens) {
  if (tokens.empty() || tokens[0].kind != TokenKind::name) return 0;
  std::size_t length = 1;
  while (length + 1 < tokens.size() && is_sign(tokens[length], ".") &&
         tokens[length + 1].kind == TokenKind::name)
    length += 2;
  return length;
}

bool is_path(Tokens tokens) { return !tokens.empty() && path_length(tokens) == tokens.size(); }

bool is_bracketed(Tokens tokens) {
  if (tokens.size() < 2 || tokens[0].kind != TokenKind::sign ||
      !is_among(tokens[0].text[0], openers))
    return false;
  const auto closes = [&](const Token& token) { return token.depth <= tokens[0].depth; };
  return std::ranges::find_if(tokens.subspan(1), closes) == tokens.subspan(1).end() - 1;
}

bool has_comprehension(Tokens tokens) {
  return std::ranges::any_of(tokens.subspan(tokens.empty() ? 0 : 1), [](const Token& token) {
    return token.kind == TokenKind::name && token == "for";
  });
}

int count_word(std::string_view text, std::string_view word) {
  if (word.empty() || text.find(word) == text.npos) return 0;
  int count = 0;
  const char* const end = text.data() + text.size();
  for (const Token& token : tokens_of(text)) {
    if (token.kind != TokenKind::name) continue;
    const std::string_view rest(token.text.data(), end);
    count += rest.starts_with(word) && (rest.size() == word.size() || !is_word(rest[word.size()]));
  }
  return count;
}

}  // namespace symprof::trace
