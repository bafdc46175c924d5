// What names hold while the statements of a function run.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

class BoundNames {
 public:
  /// The statement that binds the name, which `statement` gave to the value, to another one;
  /// `no_index` for none.
  using NextBinding =
      std::function<std::size_t(ValueId, std::size_t statement, std::string_view name)>;

  /// A statement of the call has given this name to the value.
  void bind(std::size_t call, std::size_t statement, std::string_view name, ValueId value) {
    bound_[{call, name}].push_back({statement, value});
  }

  /// The values that the name holds when `statement` of the call begins: those that the last
  /// statement before it has bound, if none has bound the name anew since.
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
