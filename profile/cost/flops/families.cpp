#include "profile/cost/flops/families.h"

#include "base/error.h"

#include "base/error.h"

namespace symprof::profile {

RuleTable::RuleTable(std::span<const Family> families) {
  for (const Family& family : families) {
    for (const Rule& rule : family.rules()) {
      if (!by_name_.emplace(rule.op, rows_.size()).second)
        throw Error("family " + std::string(family.name), "two rules for " + std::string(rule.op),
                    "an operator has one row in one family: remove the other");
      rows_.push_back({rule, family.name});
    }
  }
}

const Rule* RuleTable::find(std::string_view op) const {
  auto found = by_name_.find(op);
  const bool in_place = op.ends_with('_') && !op.ends_with("__");
  if (found == by_name_.end() && in_place) found = by_name_.find(op.substr(0, op.size() - 1));
  return found == by_name_.end() ? nullptr : &rows_[found->second].rule;
}

std::vector<OperatorInfo> RuleTable::operators() const {
  std::vector<OperatorInfo> result;
  result.reserve(rows_.size());
  for (const Row& row : rows_)
    result.push_back({std::string(row.rule.op), std::string(row.family), row.rule.confidence});
  return result;
}

const RuleTable& rule_table() {
  static const RuleTable table(families);
  return table;
}

const Rule* find_rule(std::string_view op) { return rule_table().find(op); }

std::vector<OperatorInfo> known_operators() { return rule_table().operators(); }

}  // namespace symprof::profile
