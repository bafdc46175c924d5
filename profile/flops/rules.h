// The contract of a cost rule: what it sees of a call, and what it answers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "profile/profile.h"

namespace symprof::profile {

/// A call as a rule sees it.
class Call {
 public:
  Call(const Recording& recording, const CallRecord& record)
      : recording_(recording), record_(record) {}

  std::string_view op() const;
  /// The first tensor given for schema argument `position`; null when None.
  const TensorSpec* input_at(int position) const;
  /// All defined tensor arguments, in schema order.
  std::size_t input_count() const;
  const TensorSpec* input(std::size_t index) const;  ///< Null beyond the last.
  std::size_t output_count() const;
  const TensorSpec* output(std::size_t index) const;  ///< Null when undefined.
  /// Element `index` of the integer (list) or bool (list) argument at `position`, else `otherwise`.
  std::int64_t integer(int position, std::size_t index, std::int64_t otherwise) const;

  const TensorSpec* spec(const TensorRecord& tensor) const;  ///< Null when undefined.
  const Recording& recording() const { return recording_; }
  const CallRecord& record() const { return record_; }

 private:
  const Recording& recording_;
  const CallRecord& record_;
};

/// What a rule answers: the cost without its confidence (the rule's row has that), or nothing when
/// the call has a form that the rule does not cover; such a call is reported as unmodelled.
using Estimate = std::optional<Cost>;

/// One operator: its name below autograd ("aten::addmm", any overload) and its cost. The in-place
/// variant ("aten::add_") shares the row of the plain one unless it has its own.
struct Rule {
  std::string_view op;
  Estimate (*estimate)(const Call&);
  Confidence confidence = Confidence::exact;
};
using Rules = std::span<const Rule>;

}  // namespace symprof::profile
