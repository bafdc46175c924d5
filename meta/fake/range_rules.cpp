#include "meta/fake/range_rules.h"

#include <unordered_map>

namespace symprof::meta {
namespace {

std::unordered_map<std::string_view, RangeRule> all_rules() {
  std::unordered_map<std::string_view, RangeRule> rules;
  for (const auto& rows : {ranges_of_arithmetic(), ranges_of_elements()})
    for (const RangeRow& row : rows) rules.emplace(row.op, row.rule);
  return rules;
}

}  // namespace

RangeRule range_rule(std::string_view op) {
  constexpr std::string_view own_operators = "aten::";
  if (!op.starts_with(own_operators)) return nullptr;
  op.remove_prefix(own_operators.size());
  if (op.ends_with('_') && !op.ends_with("__")) op.remove_suffix(1);
  static const std::unordered_map<std::string_view, RangeRule> rules = all_rules();
  const auto found = rules.find(op);
  return found == rules.end() ? nullptr : found->second;
}

}  // namespace symprof::meta
