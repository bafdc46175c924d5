// Returned containers and objects: `return Output(hidden, states)`.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/python/lifetimes/calls.h"

namespace symprof::trace {

/// A returned tuple, list, dictionary or object keeps alive everything that it was made of, and so
/// does the caller's variable for it, whatever the caller reads. An object that a constructor makes
/// keeps its attributes alive, `self.loc = loc`; an object without a variable lives until its line
/// ends, `return self.density(x).log_prob(y)`.
///
/// The `return` line has to be known: it is the line of the call's last nodes, or, if a trace's
/// Python source is given, the last line of the function (trace/torchscript/python_sources.h).
class ReturnedObjects {
 public:
  /// The last node during which the variable that a statement bound to a value holds it.
  using Death = std::function<std::size_t(ValueId, std::size_t statement, std::string_view name)>;

  ReturnedObjects(const Graph& graph, const PythonRun& run);

  /// A statement has bound this variable to the value.
  void bind(std::size_t statement, std::string_view name, ValueId value);

  /// Extends the lifetimes of returned values. `last`: last use by value, as in
  /// extend_by_variables.
  void hold(const Death& death, std::vector<std::size_t>& last);

 private:
  /// The values that a variable of a call holds, and since which statement.
  struct Held {
    std::size_t statement = 0;
    std::vector<ValueId> values;
  };

  struct Returned {
    std::vector<ValueId> values;
    bool is_object = false;  ///< A constructor made what holds them.

    void add(const Returned& other);
  };

  std::vector<std::string_view> returned_by(std::size_t call) const;
  Returned returned_of(std::size_t call) const;
  void hand_to(std::size_t caller, std::size_t call, const Returned& returned, const Death& death,
               std::vector<std::size_t>& last);
  bool is_bound(std::size_t statement, std::string_view name, ValueId value) const;
  const SourceLine& line_of(std::size_t statement) const;
  const SourceLine& last_line_of(std::size_t call) const;

  const Graph& graph_;
  const PythonRun& run_;
  std::map<std::pair<std::size_t, std::string_view>, Held> held_;  // By call and name.
  std::vector<std::size_t> last_statements_;                       // By call.
  std::vector<Returned>
      passed_on_;  // By call: the results that it returns unchanged from a call of its own.
  /// `return` lines, by the line that calls the function and the function's name.
  std::map<std::pair<SourceId, std::string_view>, std::string_view> returns_;
};

/// True for a line of a constructor: the attributes that it sets belong to a new object.
bool is_in_constructor(const SourceLine& line);

}  // namespace symprof::trace
