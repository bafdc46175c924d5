// How long Python may hold values whose end a file does not tell.
#pragma once

#include <cstddef>
#include <vector>

#include "record/lifetimes.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

struct PossibleEnd {
  std::size_t last = 0;  ///< The index of the last node during which the value may be held.
  LifetimeDoubt doubt = LifetimeDoubt::none;  ///< none: last_uses() is right.
  /// A function whose lines are not in the file had the value, or the file is a trace: anything may
  /// hold it, an attribute or a list. `last` is what is likely.
  bool is_open = false;
};

/// For each value until when it may be held, at most. last_uses() with Lifetimes::frames has until
/// when it is held at least. Where the two differ, the file does not tell:
///
/// - Of functions that are not called `forward` torch.export keeps no line. What ran while a
///   function was at a line and that line does not call itself ran in one of those. Names in there
///   may hold what it made and was given until it returns, so at most until the line is done.
/// - In such a function `cache.update(key)` and the like may keep what is made as long as the step
///   goes on.
/// - A line that names more results than there are, `out, rest = block(x)`, got something else:
///   None, a number, or a container. The last may hold what the called function still held when it
///   returned, as long as the step goes on; until the caller returns where the name is `_`.
/// - A name whose value is read under other names alone, `outputs = stage(x)`, holds a container
///   (trace/frames/hidden_containers.h): until it is bound anew, what the called function held
///   under a second name.
/// - A statement over several lines, `x = (` and what follows, may make a value at a line that has
///   no name for it. If the function reads it further down, it may hold it until it returns.
/// - Where there are no lines, functions are known by their modules alone.
///
/// What lists collect leaves no trace, and is not in here.
std::vector<PossibleEnd> possible_ends(const Graph& graph);

}  // namespace symprof::trace
