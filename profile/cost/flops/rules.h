// The contract of a rule that counts the FLOPs and bytes of a call.
//
// Public header.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "profile/cost/call.h"
#include "profile/cost/cost.h"

namespace symprof::profile {

/// The result of a rule: the cost without its confidence (which is in the rule's row), or nullopt
/// if the rule does not cover this form of the call, which is then reported as unmodelled.
using Estimate = std::optional<Cost>;

/// Short name for the rule tables.
constexpr Confidence modelled = Confidence::modelled;

/// A rule of one operator: its name below autograd ("aten::addmm", any overload) and its cost. The
/// in-place variant ("aten::add_") shares the row of the plain one unless it has its own.
struct Rule {
  std::string_view op;
  Estimate (*estimate)(const Call&);
  Confidence confidence = Confidence::exact;
};
using Rules = std::span<const Rule>;

}  // namespace symprof::profile
