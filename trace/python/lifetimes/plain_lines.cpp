#include "trace/python/lifetimes/plain_lines.h"

#include <algorithm>
#include <cstdint>

#include "trace/python/source/assignment.h"

namespace symprof::trace {
namespace {

/// True if the blocks of `inner` begin with all blocks of `outer`.
bool lies_around(const std::vector<PythonBlock>& outer, const std::vector<PythonBlock>& inner) {
  return outer.size() <= inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

/// The line of the innermost loop that both lie in; 0 for none.
std::int64_t loop_around(const SourceLine& first, const SourceLine& second) {
  const auto [end, other_end] = std::ranges::mismatch(first.blocks, second.blocks);
  std::int64_t found = 0;
  for (auto block = first.blocks.begin(); block != end; ++block)
    if (block->is_loop) found = block->line;
  return found;
}

}  // namespace

PlainLines::PlainLines(const Graph& graph) : graph_(graph) {
  for (std::size_t i = 0; i < graph.source_lines.size(); ++i) {
    const SourceLine& line = graph.source_lines[i];
    if (binds_plainly(line.text))
      lines_[{line.caller, line.file, line.function}].push_back(static_cast<SourceId>(i));
  }
  for (auto& [function, lines] : lines_)
    std::ranges::sort(lines, {}, [&](SourceId id) { return line(id).line; });
}

std::vector<SourceId> PlainLines::between(const SourceLine& from, const SourceLine& to) const {
  std::vector<SourceId> found;
  const auto lines = lines_.find({to.caller, to.file, to.function});
  if (lines == lines_.end()) return found;
  const auto ran_behind = [&](const SourceLine& plain) {
    return plain.line > from.line && lies_around(plain.blocks, from.blocks);
  };
  const auto ran_before = [&](const SourceLine& plain) {
    return plain.line < to.line && lies_around(plain.blocks, to.blocks);
  };
  if (from.line < to.line) {
    for (const SourceId id : lines->second) {
      const SourceLine& plain = line(id);
      if (plain.line > from.line && plain.line < to.line &&
          (ran_behind(plain) || ran_before(plain)))
        found.push_back(id);
    }
    return found;
  }
  const std::int64_t loop = loop_around(from, to);
  if (loop == 0) return found;
  const auto is_in_loop = [&](const SourceLine& plain) {
    return std::ranges::find(plain.blocks, loop, &PythonBlock::line) != plain.blocks.end();
  };
  for (const SourceId id : lines->second)
    if (is_in_loop(line(id)) && ran_behind(line(id))) found.push_back(id);
  for (const SourceId id : lines->second)
    if (is_in_loop(line(id)) && ran_before(line(id))) found.push_back(id);
  return found;
}

}  // namespace symprof::trace
