#include "trace/python/source/python_file.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "trace/python/source/assignment.h"
#include "trace/python/source/tokens.h"
#include "trace/python/source/written_calls.h"

namespace symprof::trace {
namespace {

constexpr std::size_t no_place = std::string_view::npos;
/// Nobody writes longer statements; generated tables are no code that makes tensors.
constexpr std::size_t longest_text = 4000;

/// The lines of a statement, put together letter by letter.
class StatementText {
 public:
  /// Adds a line. Text inside of a multi-line string is left out.
  void add(std::string_view line) {
    goes_on_ = false;
    if (!text_.empty() && triple_ == 0) text_ += ' ';
    for (std::size_t i = 0; i < line.size();) i = triple_ != 0 ? skip(line, i) : take(line, i);
  }

  bool is_whole() const { return depth_ == 0 && triple_ == 0 && !goes_on_; }
  /// The first colon outside of brackets; the body of a compound statement begins after it.
  std::size_t colon() const { return colon_; }
  std::string_view text() const { return text_; }

 private:
  /// Goes on in a string of three quotes.
  std::size_t skip(std::string_view line, std::size_t i) {
    if (line[i] == '\\') return i + 2;
    if (line.substr(i, 3) != std::string(3, triple_)) return i + 1;
    triple_ = 0;
    return i + 3;
  }

  std::size_t take(std::string_view line, std::size_t i) {
    const char letter = line[i];
    if (letter == '#') return line.size();
    if (letter == '"' || letter == '\'') return take_string(line, i);
    if (letter == '\\' && trimmed(line.substr(i + 1)).empty()) {
      goes_on_ = true;
      return line.size();
    }
    if (letter == '(' || letter == '[' || letter == '{') ++depth_;
    if (letter == ')' || letter == ']' || letter == '}') depth_ = std::max(depth_ - 1, 0);
    if (letter == ':' && depth_ == 0 && colon_ == no_place) colon_ = text_.size();
    append(line.substr(i, 1));
    return i + 1;
  }

  std::size_t take_string(std::string_view line, std::size_t i) {
    const char quote = line[i];
    if (line.substr(i, 3) == std::string(3, quote)) {
      triple_ = quote;
      append("\"\"");
      return i + 3;
    }
    std::size_t end = i + 1;
    while (end < line.size() && line[end] != quote) end += line[end] == '\\' ? 2 : 1;
    end = std::min(end + 1, line.size());
    append(line.substr(i, end - i));
    return end;
  }

  void append(std::string_view part) {
    if (text_.size() < longest_text) text_ += part;
  }

  std::string text_;
  std::size_t colon_ = no_place;
  int depth_ = 0;
  char triple_ = 0;  // The quote of the open string of three.
  bool goes_on_ = false;
};

struct Block {
  std::size_t indent = 0;
  bool is_function = false, is_class = false, is_with = false, is_loop = false;
  std::int64_t line = 0;  // Its first.
  std::string name = {};  // Of a function or a class.
  std::optional<bool> gradients = {};
  bool no_autocast = false;
};

std::size_t indent_of(std::string_view line) {
  std::size_t width = 0;
  for (const char letter : line) {
    if (letter == '\t')
      width += 8 - width % 8;
    else if (letter == ' ')
      ++width;
    else
      break;
  }
  return width;
}

/// "name" of `def name(x):` for the keyword "def "; empty for other statements.
std::string_view defined(std::string_view text, std::string_view keyword) {
  if (text.starts_with("async ")) text = trimmed(text.substr(6));
  if (!text.starts_with(keyword)) return {};
  text = trimmed(text.substr(keyword.size()));
  return text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin()));
}

/// Reads a `with` statement into the block that it opens.
void read_with(std::string_view text, Block& block) {
  const std::vector<Token> tokens = tokens_of(text);
  for (const WrittenCall& call : calls_in(tokens)) {
    const auto is_given = [](std::optional<Tokens> argument, std::string_view value) {
      return argument && text_of(*argument) == value;
    };
    const auto first =
        call.arguments.empty() ? std::nullopt : std::optional<Tokens>(call.arguments[0]);
    const bool sets = call.function == "set_grad_enabled";
    if (call.function == "no_grad" || call.function == "inference_mode" ||
        (sets && is_given(first, "False")))
      block.gradients = false;
    else if (call.function == "enable_grad" || (sets && is_given(first, "True")))
      block.gradients = true;
    block.no_autocast |= call.function == "autocast" && is_given(call.keyword("enabled"), "False");
  }
}

class Reader {
 public:
  std::vector<PythonLine> read(std::string_view text) {
    for (std::int64_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      add_line(text.substr(0, end), number);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(lines_);
  }

 private:
  void add_line(std::string_view line, std::int64_t number) {
    if (!is_open_) {
      const std::string_view content = trimmed(line);
      if (content.empty() || content.starts_with('#')) return;
      is_open_ = true;
      open_ = {};
      indent_ = indent_of(line);
      first_ = number;
    }
    open_.add(trimmed(line));
    if (!open_.is_whole()) return;
    is_open_ = false;
    finish(number);
  }

  void finish(std::int64_t last) {
    while (!blocks_.empty() && blocks_.back().indent >= indent_) blocks_.pop_back();
    const std::string_view text = trimmed(open_.text());
    const std::string_view function = defined(text, "def "), type = defined(text, "class ");
    Block block{.indent = indent_,
                .is_function = !function.empty(),
                .is_class = !type.empty(),
                .is_with = text.starts_with("with ") || text.starts_with("async with "),
                .is_loop = text.starts_with("for ") || text.starts_with("while ") ||
                           text.starts_with("async for "),
                .line = first_,
                .name = std::string(function.empty() ? type : function)};
    if (block.is_with) read_with(text, block);
    const std::string_view body =
        open_.colon() == no_place ? std::string_view{} : trimmed(text.substr(open_.colon() + 1));
    const bool opens = text.ends_with(':');
    const bool holds_body = !opens && !body.empty() && (block.is_function || block.is_with);
    if (holds_body) blocks_.push_back(block);
    lines_.push_back(described(first_, last, holds_body ? body : text));
    if (holds_body) blocks_.pop_back();
    if (opens) blocks_.push_back(std::move(block));
  }

  PythonLine described(std::int64_t first, std::int64_t last, std::string_view text) const {
    PythonLine line{.first = first, .last = last, .text = std::string(text)};
    for (std::size_t i = blocks_.size(); i-- > 0 && line.class_name.empty();)
      if (blocks_[i].is_class) line.class_name = blocks_[i].name;
    for (std::size_t i = blocks_.size(); i-- > 0;) {
      const Block& block = blocks_[i];
      if (block.is_function) {
        line.function = block.name;
        line.function_at = block.line;
        break;
      }
      if (!block.is_with) line.blocks.push_back({block.line, block.is_loop});
      if (!line.gradients) line.gradients = block.gradients;
      line.no_autocast |= block.no_autocast;
    }
    std::ranges::reverse(line.blocks);
    return line;
  }

  std::vector<PythonLine> lines_;
  std::vector<Block> blocks_;  // The open blocks, the innermost last.
  StatementText open_;
  bool is_open_ = false;
  std::size_t indent_ = 0;
  std::int64_t first_ = 0;
};

}  // namespace

PythonFile::PythonFile(std::string_view text) : lines_(Reader().read(text)) {}

const PythonLine* PythonFile::at(std::int64_t line) const {
  auto found = std::ranges::upper_bound(lines_, line, {}, &PythonLine::first);
  if (found == lines_.begin()) return nullptr;
  --found;
  return line <= found->last ? &*found : nullptr;
}

/// A line outside of functions, of a class or of the next `def` in it, ends a function; lines of
/// functions inside of it have other names.
const PythonLine* PythonFile::last_return(const PythonLine& statement) const {
  const PythonLine* found = nullptr;
  for (const PythonLine* line = &statement;
       line != lines_.data() + lines_.size() && !line->function.empty(); ++line)
    if (line->function == statement.function && line->text.starts_with("return ")) found = line;
  return found;
}

std::vector<const PythonLine*> PythonFile::plain_lines(const PythonLine& statement) const {
  std::vector<const PythonLine*> found;
  if (statement.function.empty()) return found;
  for (auto line = std::ranges::lower_bound(lines_, statement.function_at, {}, &PythonLine::first);
       line != lines_.end(); ++line)
    if (line->function_at == statement.function_at && binds_plainly(line->text))
      found.push_back(&*line);
  return found;
}

}  // namespace symprof::trace
