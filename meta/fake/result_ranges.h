// Bounds of a call's results without values.
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
  /// Constructed after the call has run and before values that it overwrote are forgotten. The
  /// operator has a rule.
  BoundedResults(const c10::OperatorHandle& op, std::span<const c10::IValue> arguments,
                 std::span<const c10::IValue> results);
  /// Stores the bounds with the results; results bounded to one number get that value.
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
