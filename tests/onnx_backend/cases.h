// The cases that write_cases.py writes.
#pragma once

#include <ATen/core/ivalue.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::testing {

/// An input or output of a case: a tensor, a sequence of tensors, or an empty optional (none).
struct CaseValue {
  enum class Kind : std::uint8_t { none, tensor, sequence };
  Kind kind = Kind::none;
  std::vector<std::shared_ptr<const ConstantTensor>> tensors;
};

struct BackendCase {
  std::string name, op;
  std::string model;  ///< The bytes of a ModelProto.
  double rtol = 0, atol = 0;
  std::vector<CaseValue> inputs, outputs;
  std::map<std::string, std::shared_ptr<const ConstantTensor>> weights;  ///< The initializers.
  /// Why the values cannot be held here; empty when they can.
  std::string unreadable;
};

/// Throws Error when the file is missing or something else.
std::vector<BackendCase> read_cases(const std::string& path);

/// A value on the host.
c10::IValue real_value(const CaseValue& value);

}  // namespace symprof::testing
