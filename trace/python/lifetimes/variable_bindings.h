// The values of a function's local variables while its statements run.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

class VariableBindings {
 public:
  /// Given a value and the statement that bound it to the variable `name`, returns the statement
  /// that rebinds that variable; `no_index` if none does.
  using NextBinding =
      std::function<std::size_t(ValueId, std::size_t statement, std::string_view name)>;

  /// Records that `statement` of the call binds `value` to the variable `name`.
  void bind(std::size_t call, std::size_t statement, std::string_view name, ValueId value) {
    bound_[{call, name}].push_back({statement, value});
  }

  /// The values that the variable holds just before `statement` of the call runs: the values bound
  /// by the last earlier statement, unless the variable was rebound since.
  std::vector<ValueId> held(std::size_t call, std::string_view name, std::size_t statement,
                            const NextBinding& next_binding) const;

 private:
  struct Bound {
    std::size_t statement = 0;
    ValueId value = no_value;
  };

  std::map<std::pair<std::size_t, std::string_view>, std::vector<Bound>> bound_;  // By call, name.
};

}  // namespace symprof::trace
