// What a line of Python does with the value that it computes.
#pragma once

#include <string_view>
#include <vector>

namespace symprof::trace {

/// A place that a value gets: `x`, `self.x`, or `x[…]`, where x holds it besides what x held
/// before.
struct Target {
  std::string_view name;  ///< "x" or "self.x"; empty where it is computed: `f(x).y`.
  bool replaces = true;   ///< False for `x[…]`.
};

struct Assignment {
  bool returns = false;  ///< `return …`
  /// An element for each `=`, the first first: `a = b, c = f()` has {a} and {b, c}.
  std::vector<std::vector<Target>> targets;
  std::string_view value;  ///< What is assigned, as far as the line has it.
  /// The name of what keeps the value besides all that it held before: xs of `xs.append(x)`, of
  /// `xs += [x]` and of `xs = xs + (x,)`; empty for other lines.
  std::string_view keeper;

  /// Whether what is assigned is what one call returns: `f(x)` or `f(x).y`, not `f(x), 0`.
  bool assigns_one_call() const;
};

/// What a line runs: `x = a(x)` of `for a in self.layers: x = a(x)`; the line where it is no such.
/// Empty for a line with nothing behind its colon. A view into `line`.
std::string_view simple_statement(std::string_view line);

/// Whether a line reads what has the name: `x = f(x)` does, `x = f(y)` only binds it. `assignment`
/// is the line's.
bool reads_name(std::string_view line, const Assignment& assignment, std::string_view name);

/// The plain names that a `return` puts into what it returns: a, b and c of `return a, [b]` and of
/// `return Output(a, states={"b": b}, mask=c)`. What a function is given, `return f(a)`, is not
/// among them: a class is known by its capital. Views into `line`; empty for other lines.
std::vector<std::string_view> returned_names(std::string_view line);

/// The names that `del x, y` lets go of; empty for other lines. Views into `line`.
std::vector<std::string_view> deleted_names(std::string_view line);

/// Whether the line gives what a name holds a second one: `residual = x`.
bool is_plain_copy(std::string_view line);

/// Whether the line binds names, or lets go of them, and calls nothing: `residual = x`, `xs = []`,
/// `x, y = None, 0`, `del x`. It makes no node of a graph.
bool binds_plainly(std::string_view line);

/// The name of the list that the line joins: xs of `cat(xs, 1)`, self.xs of `stack(self.xs)`; empty
/// for other lines, and for `cat([x, y])`. A view into `line`.
std::string_view joined_list(std::string_view line);

/// Parses one line, which may be the first of a statement over several. No targets for what is no
/// assignment, and for what lies inside of one: `mask=mask,` is an argument. Views into `line`.
Assignment parse_assignment(std::string_view line);

}  // namespace symprof::trace
