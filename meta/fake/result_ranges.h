// The bounds of what a call made whose results have no values.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <span>
#include <vector>

#include "meta/fake/range_rules.h"

namespace symprof::meta {

class BoundedResults {
 public:
  /// After the call has run, and before the values of what it wrote are forgotten. The operator has
  /// a rule.
  BoundedResults(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments,
                 std::span<const c10::IValue> results);
  /// Beside the results; those that are one number have values from here on.
  void keep() const;

 private:
  struct Bounded {
    at::Tensor tensor;
    ValueRange range;
  };
  void add(const at::Tensor& tensor, const ValueRange& range, bool is_written);

  std::vector<Bounded> results_;
};

}  // namespace symprof::meta
