// Costs of operators by rules of the program's own, in Python (profile/own_rules.h).
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
/// Of an integer argument, the index in the schema and the value; of a list one for each of them.
using AskedInteger = std::pair<std::int64_t, std::int64_t>;
/// Fields of Cost by their names; those that are left out are 0.
using AnsweredCost = std::map<std::string, std::int64_t>;
/// What a call of this operator costs, by its inputs and outputs, the index in the schema of each
/// input, and its integers; nothing where the rule does not cover it.
using AskCost = std::function<std::optional<AnsweredCost>(
    const std::string&, const std::vector<AskedTensor>&, const std::vector<AskedTensor>&,
    const std::vector<std::int64_t>&, const std::vector<AskedInteger>&)>;

/// A table of operators that all ask one function. One of them lives at a time on a thread.
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
