// The contract of a rule that counts FLOPs and bytes: what it answers for a call.
//
// Public header.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "profile/cost/call.h"
#include "profile/cost/cost.h"

namespace symprof::profile {

/// What a rule answers: the cost without its confidence (the rule's row has that), or nothing when
/// the call has a form that the rule does not cover; such a call is reported as unmodelled.
using Estimate = std::optional<Cost>;

/// A short name, for the tables of rules.
constexpr Confidence modelled = Confidence::modelled;

/// One operator: its name below autograd ("aten::addmm", any overload) and its cost. The in-place
/// variant ("aten::add_") shares the row of the plain one unless it has its own.
struct Rule {
  std::string_view op;
  Estimate (*estimate)(const Call&);
  Confidence confidence = Confidence::exact;
};
using Rules = std::span<const Rule>;

}  // namespace symprof::profile
