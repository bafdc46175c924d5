#include "trace/frames/assignment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/text.h"
#include "trace/frames/own_calls.h"

namespace symprof::trace {
namespace {

constexpr std::size_t none = std::string_view::npos;

// Statements that run another one behind their colon.
constexpr std::array<std::string_view, 9> compound = {"if",   "elif",   "else", "for",    "while",
                                                      "with", "except", "try",  "finally"};
constexpr std::array<std::string_view, 5> without_targets = {"assert", "del", "raise", "yield",
                                                             "lambda"};

std::string_view first_word(std::string_view text) {
  return text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin()));
}

/// Behind the string that begins at `at`.
std::size_t behind_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// Calls `visit(position)` for each character that lies in no bracket and no string, until it says
/// false or a comment begins. False where a bracket closes that was not opened: the line begins
/// inside of a statement.
template <class Visit>
bool for_each_outside(std::string_view text, Visit&& visit) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '#') return true;
    if (letter == '"' || letter == '\'') {
      i = behind_string(text, i) - 1;
      continue;
    }
    const bool opens = letter == '(' || letter == '[' || letter == '{';
    const bool closes = letter == ')' || letter == ']' || letter == '}';
    if (closes && --depth < 0) return false;
    if (depth == 0 && !opens && !closes && !visit(i)) return true;
    if (opens) ++depth;
  }
  return true;
}

std::size_t find_outside(std::string_view text, char wanted) {
  std::size_t found = none;
  for_each_outside(text, [&](std::size_t i) {
    if (text[i] == wanted) found = i;
    return found == none;
  });
  return found;
}

std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = find_outside(text, separator); at != none;
       at = find_outside(text, separator)) {
    parts.push_back(trimmed(text.substr(0, at)));
    text.remove_prefix(at + 1);
  }
  parts.push_back(trimmed(text));
  return parts;
}

/// `name` and `self.name` as they are, `name[…]` without its index.
Target parse_target(std::string_view text) {
  const auto is_path = [](char letter) { return is_word(letter) || letter == '.'; };
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_path) - text.begin());
  if (end == text.size()) return {text};
  if (text[end] == '[' && text.ends_with(']')) return {text.substr(0, end), false};
  return {{}, false};
}

void add_targets(std::string_view text, std::vector<Target>& targets) {
  for (std::string_view part : split_outside(text, ',')) {
    while (part.starts_with('*')) part = trimmed(part.substr(1));
    if (part.empty()) continue;
    const bool nested = part.size() > 1 && (part.front() == '(' || part.front() == '[');
    if (nested)
      add_targets(part.substr(1, part.size() - 2), targets);
    else
      targets.push_back(parse_target(part));
  }
}

/// An `=` that assigns, and where the target before it ends: `x += y` changes x.
struct Equals {
  std::size_t at = none, target_end = none;
};

std::optional<Equals> assigning(std::string_view text, std::size_t i) {
  const auto at = [&](std::size_t j) { return j < text.size() ? text[j] : '\0'; };
  if (text[i] != '=' || at(i + 1) == '=' || i == 0) return std::nullopt;
  const char before = text[i - 1];
  if (before == '=' || before == '!' || before == ':') return std::nullopt;
  const bool is_order = before == '<' || before == '>';
  if (is_order && (i < 2 || text[i - 2] != before)) return std::nullopt;
  constexpr std::string_view augmenting = "+-*/%&|^@";
  if (!is_order && augmenting.find(before) == none) return Equals{i, i};
  const bool doubled = i >= 2 && text[i - 2] == before;
  return Equals{i, i - (doubled ? 2 : 1)};
}

/// An argument of a call over several lines: `mask=mask,` or `x, dim=1` or `x=f(x), mask=mask`.
bool is_argument(std::string_view text, const std::vector<Equals>& equals) {
  const Equals& first = equals.front();
  const bool spaced = first.target_end != first.at || text[first.at - 1] == ' ';
  const std::string_view target = text.substr(0, first.target_end);
  const std::string_view between = text.substr(first.at, equals.back().at - first.at);
  return !spaced && (text.ends_with(',') || find_outside(target, ',') != none ||
                     find_outside(between, ',') != none);
}

/// Whether `text` begins with a list or a tuple: `[x]`, `(x,)`.
bool begins_with_container(std::string_view text) {
  if (text.starts_with('[')) return true;
  return text.starts_with('(') && find_outside(text.substr(1), ',') != none;
}

/// xs of `xs += [x]` and of `xs = xs + (x,)`.
std::string_view keeper_of_sum(const Assignment& assignment, bool is_augmented) {
  if (assignment.targets.size() != 1 || assignment.targets[0].size() != 1) return {};
  const Target& target = assignment.targets[0][0];
  std::string_view value = assignment.value;
  if (!is_augmented) {
    if (!value.starts_with(target.name)) return {};
    value = trimmed(value.substr(target.name.size()));
    if (!value.starts_with('+')) return {};
    value = trimmed(value.substr(1));
  }
  return target.replaces && begins_with_container(value) ? target.name : std::string_view{};
}

/// xs of `xs.append(x)`.
std::string_view keeper_of_call(std::string_view text) {
  constexpr std::array<std::string_view, 4> keeping = {"append", "extend", "insert", "add"};
  const auto is_path = [](char letter) { return is_word(letter) || letter == '.'; };
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_path) - text.begin());
  const std::string_view path = text.substr(0, end);
  const std::size_t dot = path.rfind('.');
  if (dot == none || end == text.size() || text[end] != '(') return {};
  if (std::ranges::find(keeping, path.substr(dot + 1)) == keeping.end()) return {};
  return path.substr(0, dot);
}

std::string_view without_annotation(std::string_view target) {
  return trimmed(target.substr(0, std::min(find_outside(target, ':'), target.size())));
}

Assignment parse_simple(std::string_view text) {
  Assignment found;
  std::vector<Equals> equals;
  const bool whole = for_each_outside(text, [&](std::size_t i) {
    if (const auto found_one = assigning(text, i)) equals.push_back(*found_one);
    return true;
  });
  if (whole && equals.empty()) found.keeper = keeper_of_call(text);
  if (!whole || equals.empty() || is_argument(text, equals)) return found;
  std::size_t begin = 0;
  for (const Equals& one : equals) {
    found.targets.emplace_back();
    add_targets(without_annotation(text.substr(begin, one.target_end - begin)),
                found.targets.back());
    begin = one.at + 1;
  }
  found.value = trimmed(text.substr(begin));
  const bool is_sum = equals[0].target_end != equals[0].at && text[equals[0].target_end] == '+';
  found.keeper = keeper_of_sum(found, is_sum);
  return found;
}

/// Whether `text` is `begin…end` with nothing behind the bracket that closes.
bool is_bracketed(std::string_view text) {
  if (text.empty()) return false;
  const bool opens = text.front() == '(' || text.front() == '[' || text.front() == '{';
  bool only = opens;
  for_each_outside(text.substr(0, text.size()), [&](std::size_t) { return only = false; });
  return only;
}

/// A name of Python, and no constant.
bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_word) && !is_digit(text[0]) &&
         text != "None" && text != "True" && text != "False";
}

/// A number, a constant or an empty container.
bool is_literal(std::string_view text) {
  const auto is_of_number = [](char letter) { return is_digit(letter) || letter == '.'; };
  return text == "None" || text == "True" || text == "False" || text == "[]" || text == "()" ||
         text == "{}" || (!text.empty() && std::ranges::all_of(text, is_of_number));
}

/// Whether the line is `x = …` or `x, y = …`, with plain names and nothing before them.
bool binds_names(std::string_view line, const Assignment& assignment) {
  if (assignment.targets.empty() || !assignment.keeper.empty()) return false;
  for (const std::vector<Target>& group : assignment.targets)
    for (const Target& target : group)
      if (!target.replaces || !is_name(target.name)) return false;
  const std::string_view names = line.substr(0, std::min(line.find('='), line.size()));
  return std::ranges::all_of(names, [](char letter) {
    return is_word(letter) || letter == ',' || letter == ' ' || letter == '(' || letter == ')';
  });
}

std::string_view last_component(std::string_view path) {
  return path.substr(path.rfind('.') == none ? 0 : path.rfind('.') + 1);
}

/// Adds the names in what `text`, an expression, makes a container or an object of.
void add_names(std::string_view text, std::vector<std::string_view>& names) {
  text = trimmed(text);
  if (text.empty() || text.front() == '=') return;  // Of a comparison, `a == b`.
  if (std::ranges::all_of(text, is_word)) {
    names.push_back(text);
    return;
  }
  if (find_outside(text, ',') != none) {
    for (const std::string_view part : split_outside(text, ',')) add_names(part, names);
    return;
  }
  const std::size_t colon = find_outside(text, ':'), equals = find_outside(text, '=');
  if (colon != none || equals != none)  // An entry of a dictionary, an argument.
    return add_names(text.substr(std::min(colon, equals) + 1), names);
  const auto is_path = [](char letter) { return is_word(letter) || letter == '.'; };
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, is_path) - text.begin());
  const std::string_view called = last_component(text.substr(0, end));
  const bool makes_object = !called.empty() && std::isupper(static_cast<unsigned char>(called[0]));
  if ((end == 0 || makes_object) && is_bracketed(text.substr(end)))
    add_names(text.substr(end + 1, text.size() - end - 2), names);
}

}  // namespace

bool reads_name(std::string_view line, const Assignment& assignment, std::string_view name) {
  return count_word(assignment.targets.empty() ? line : assignment.value, name) > 0;
}

std::vector<std::string_view> returned_names(std::string_view line) {
  const std::string_view text = simple_statement(line), word = first_word(text);
  std::vector<std::string_view> names;
  if (word == "return") add_names(text.substr(word.size()), names);
  return names;
}

bool Assignment::assigns_one_call() const {
  return !value.empty() && value.front() != '(' && value.find('(') != none &&
         find_outside(value, ',') == none;
}

std::string_view simple_statement(std::string_view line) {
  std::string_view text = trimmed(line);
  while (std::ranges::find(compound, first_word(text)) != compound.end()) {
    const std::size_t colon = find_outside(text, ':');
    if (colon == none) return {};
    text = trimmed(text.substr(colon + 1));
  }
  return text;
}

std::vector<std::string_view> deleted_names(std::string_view line) {
  std::vector<std::string_view> names;
  if (first_word(line) != "del") return names;
  for (const std::string_view name : split_outside(line.substr(3), ','))
    if (is_name(name)) names.push_back(name);
  return names;
}

bool is_plain_copy(std::string_view line) {
  const Assignment assignment = parse_assignment(line);
  return binds_names(line, assignment) && assignment.targets.size() == 1 &&
         assignment.targets[0].size() == 1 && is_name(assignment.value);
}

bool binds_plainly(std::string_view line) {
  if (is_plain_copy(line) || !deleted_names(line).empty()) return true;
  const Assignment assignment = parse_assignment(line);
  return binds_names(line, assignment) &&
         std::ranges::all_of(split_outside(assignment.value, ','), is_literal);
}

std::string_view joined_list(std::string_view line) {
  constexpr std::array<std::string_view, 4> joins = {"cat(", "concat(", "concatenate(", "stack("};
  for (const std::string_view join : joins) {
    const std::size_t at = line.find(join);
    if (at == none || (at > 0 && is_word(line[at - 1]))) continue;
    const std::string_view list = trimmed(line.substr(at + join.size()));
    const auto end = std::ranges::find_if_not(
        list, [](char letter) { return is_word(letter) || letter == '.'; });
    if (end != list.begin() && end != list.end() && (*end == ',' || *end == ')'))
      return {list.begin(), end};
  }
  return {};
}

Assignment parse_assignment(std::string_view line) {
  const std::string_view text = simple_statement(line), word = first_word(text);
  if (word == "return") return {.returns = text.size() > word.size(), .targets = {}};
  if (std::ranges::find(without_targets, word) != without_targets.end()) return {};
  return parse_simple(text);
}

}  // namespace symprof::trace
