// The assignment of a line of Python: its targets and its value.
#pragma once

#include <string_view>
#include <vector>

namespace symprof::trace {

/// An assignment target: `x`, `self.x`, or `x[…]`, where x keeps its other elements.
struct Target {
  std::string_view name;  ///< "x" or "self.x"; empty where it is computed: `f(x).y`.
  bool replaces = true;   ///< False for `x[…]`.
};

struct Assignment {
  bool returns = false;  ///< `return …`
  /// An element for each `=`, the first first: `a = b, c = f()` has {a} and {b, c}.
  std::vector<std::vector<Target>> targets;
  std::string_view value;  ///< The right-hand side, as far as it is on this line.
  /// The list or set that the line adds the value to: xs of `xs.append(x)`, of `xs += [x]` and of
  /// `xs = xs + (x,)`; empty for other lines.
  std::string_view keeper;

  /// True if the value is the result of one call: `f(x)` or `f(x).y`, not `f(x), 0`.
  bool assigns_one_call() const;
};

/// The statement that a line runs: `x = a(x)` of `for a in self.layers: x = a(x)`; the whole line
/// if it is not compound. Empty if nothing stands behind the colon. A view into `line`.
std::string_view simple_statement(std::string_view line);

/// True if a line reads the variable: `x = f(x)` does, `x = f(y)` only binds it. `assignment` is
/// the line's.
bool reads_name(std::string_view line, const Assignment& assignment, std::string_view name);

/// The plain variables that a `return` puts into its result: a, b and c of `return a, [b]` and of
/// `return Output(a, states={"b": b}, mask=c)`. Arguments of a function, `return f(a)`, are not
/// among them: a class is known by its capital. Views into `line`; empty for other lines.
std::vector<std::string_view> returned_names(std::string_view line);

/// The variables that `del x, y` deletes; empty for other lines. Views into `line`.
std::vector<std::string_view> deleted_names(std::string_view line);

/// True if the line binds a second variable to a value: `residual = x`.
bool is_plain_copy(std::string_view line);

/// True if the line binds or deletes variables and calls nothing: `residual = x`, `xs = []`, `x, y
/// = None, 0`, `del x`. Such a line makes no node of a graph.
bool binds_plainly(std::string_view line);

/// The name of the list that the line joins: xs of `cat(xs, 1)`, self.xs of `stack(self.xs)`; empty
/// for other lines, and for `cat([x, y])`. A view into `line`.
std::string_view joined_list(std::string_view line);

/// Parses one line, which may be the first of a statement over several. A line that is no
/// assignment has no targets, nor has one inside of another statement, such as the argument
/// `mask=mask,`. The result has views into `line`.
Assignment parse_assignment(std::string_view line);

}  // namespace symprof::trace
