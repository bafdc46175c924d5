// What a function returns beside what is read of it: `return Output(hidden, states)`.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/frames/calls.h"
#include "trace/graph/graph.h"

namespace symprof::trace {

/// A tuple, a list, a dictionary or an object of a class that a function returns holds all that it
/// was made of. The caller's name for it holds that, too, whatever the caller reads of it. An
/// object that a constructor makes holds its attributes, `self.loc = loc`; one without a name lives
/// until its line is done, `return self.density(x).log_prob(y)`.
///
/// The line that returns has to be known: that of the call's last nodes, or, where a trace's Python
/// is there, the last one of the function (trace/torchscript/python_sources.h).
class ReturnedObjects {
 public:
  /// The last node during which the name that a statement gives to a value holds it.
  using Death = std::function<std::size_t(ValueId, std::size_t statement, std::string_view name)>;

  ReturnedObjects(const Graph& graph, const PythonRun& run);

  /// A statement has given this name to the value.
  void bind(std::size_t statement, std::string_view name, ValueId value);

  /// Puts off the deaths of what is returned: `last` is by value, as in hold_by_names.
  void hold(const Death& death, std::vector<std::size_t>& last);

 private:
  /// What a name of a call holds, since which statement.
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
  std::vector<Returned> passed_on_;  // By call: what a call that it returns has returned.
  /// Lines that return, by the line that calls the function and its name.
  std::map<std::pair<SourceId, std::string_view>, std::string_view> returns_;
};

/// Whether the line is one of a constructor: what it makes an attribute of belongs to a new object.
bool is_in_constructor(const SourceLine& line);

}  // namespace symprof::trace
