// Operator costs by the program's own Python rules (profile/own_rules.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/operators/operators.h"

namespace symprof::python {

/// Sizes, dtype ("bfloat16") and bytes.
using AskedTensor = std::tuple<std::vector<std::int64_t>, std::string, std::int64_t>;
/// Schema index and value of an integer argument; for a list, one entry per element.
using AskedInteger = std::pair<std::int64_t, std::int64_t>;
/// Fields of Cost by name; missing fields are 0.
using AnsweredCost = std::map<std::string, std::int64_t>;
/// The cost of a call of an operator, from its inputs and outputs, the schema index of each input,
/// and its integers; empty if the rule does not cover the call.
using AskCost = std::function<std::optional<AnsweredCost>(
    const std::string&, const std::vector<AskedTensor>&, const std::vector<AskedTensor>&,
    const std::vector<std::int64_t>&, const std::vector<AskedInteger>&)>;

/// A rule table whose operators all call one function. At most one lives per thread.
class OwnCosts {
 public:
  OwnCosts(const std::vector<std::string>& operators, const AskCost& ask);
  ~OwnCosts();
  OwnCosts(const OwnCosts&) = delete;
  OwnCosts& operator=(const OwnCosts&) = delete;

  const profile::OperatorTable& table() const { return *table_; }

 private:
  std::optional<profile::OperatorTable> table_;
};

}  // namespace symprof::python
