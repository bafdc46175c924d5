#include "trace/python/source/source_lines.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace symprof::trace {
namespace {

constexpr std::string_view file_mark = "File \"", line_mark = "\", line ", function_mark = ", in ";

/// The outermost calls of a deeper trace are kept; the others say no more about variables.
constexpr std::size_t deepest_trace = 256;

/// Takes the first line off `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(line);
}

/// `File "model.py", line 12, in forward`
std::optional<SourceLine> parse_place(std::string_view place) {
  const std::size_t line_at = place.find(line_mark);
  const std::size_t function_at = place.find(function_mark, line_at);
  if (line_at == std::string_view::npos || function_at == std::string_view::npos)
    return std::nullopt;
  SourceLine line;
  line.file = std::string(place.substr(file_mark.size(), line_at - file_mark.size()));
  line.function = std::string(place.substr(function_at + function_mark.size()));
  const std::size_t number_at = line_at + line_mark.size();
  std::from_chars(place.data() + number_at, place.data() + function_at, line.line);
  return line;
}

}  // namespace

SourceId SourceTable::intern(std::string_view trace) {
  if (trace == last_trace_) return last_;
  last_trace_ = trace;
  const auto [known, is_new] = traces_.try_emplace(trace, no_source);
  if (!is_new) return last_ = known->second;
  SourceId line = no_source;
  std::size_t depth = 0;
  for (std::string_view rest = trace, place = take_line(rest); depth < deepest_trace;) {
    if (!place.starts_with(file_mark)) {
      if (rest.empty()) break;
      place = take_line(rest);
      continue;
    }
    const std::string_view next = take_line(rest);
    const bool has_text = !next.starts_with(file_mark);
    line = child(line, place, has_text ? next : std::string_view{});
    ++depth;
    place = has_text ? take_line(rest) : next;
  }
  return last_ = known->second = line;
}

SourceId SourceTable::child(SourceId caller, std::string_view place, std::string_view text) {
  const std::size_t index = static_cast<std::size_t>(caller) + 1;  // 0 for no caller, which is -1.
  if (children_.size() <= index) children_.resize(index + 1);
  const auto [known, is_new] = children_[index].try_emplace(place, caller);
  if (!is_new) return known->second;
  std::optional<SourceLine> line = parse_place(place);
  if (!line) return caller;
  line->text = std::string(text);
  line->caller = caller;
  lines_.push_back(*std::move(line));
  return known->second = static_cast<SourceId>(lines_.size()) - 1;
}

}  // namespace symprof::trace
