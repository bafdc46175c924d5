// What the profiler writes of an operator's arguments under record_shapes.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/operator_call.h"

namespace symprof::measure::kineto {

/// Distinct lists of arguments: those of equal layers are kept once.
class ArgumentLists {
 public:
  /// `arguments`: "args" of an operator. Returns the index of its list; -1 if types, strides or
  /// values are not there (strides and values since PyTorch 2.5).
  std::int32_t add(simdjson::dom::object arguments);
  std::vector<std::vector<OperatorArgument>> take() { return std::move(lists_); }

 private:
  std::vector<std::vector<OperatorArgument>> lists_;
  std::unordered_map<std::string, std::int32_t> known_;  // By the JSON of the four lists.
};

}  // namespace symprof::measure::kineto
