#include "profile/operators/operators.h"

#include <string>

#include "base/error.h"
#include "profile/operators/families.h"

namespace symprof::profile {
namespace {

/// "aten::add" of the in-place "aten::add_"; empty for other names, "aten::__and__" among them.
std::string_view plain_name(std::string_view op) {
  const bool is_in_place = op.ends_with('_') && !op.ends_with("__");
  return is_in_place ? op.substr(0, op.size() - 1) : std::string_view();
}

[[noreturn]] void refuse_second_rule(const Family& family, std::string_view op) {
  throw Error("family " + std::string(family.name), "two rules for " + std::string(op),
              "an operator has one row in one family: remove the other");
}

/// Throws if an in-place operator is not in the family of the plain one.
void check_family(const Operator& row, const Operator* other) {
  if (other != nullptr && row.family != other->family)
    throw Error("family " + std::string(row.family),
                std::string(row.op) + " has a rule in the family " + std::string(other->family),
                "the rules of an operator are in one family: move one of them");
}

const OperatorTable& table() {
  static const OperatorTable all(families);
  return all;
}

}  // namespace

OperatorTable::OperatorTable(std::span<const Family> families) {
  for (const Family& family : families) {
    if (family.flops != nullptr)
      for (const Rule& rule : family.flops()) {
        Operator& found = row(rule.op, family);
        if (found.flops != nullptr) refuse_second_rule(family, rule.op);
        check_family({rule.op, family.name}, &found);
        found.flops = &rule;
      }
    if (family.scratch != nullptr)
      for (const ScratchRule& rule : family.scratch()) {
        Operator& found = row(rule.op, family);
        if (found.scratch != nullptr) refuse_second_rule(family, rule.op);
        check_family({rule.op, family.name}, &found);
        found.scratch = rule.scratch;
      }
    if (family.times != nullptr) add_times(family);
  }
  for (const Operator& one : operators_) check_family(one, find_row(plain_name(one.op)));
}

/// Adds a family's time rules: `usual` for operators with a FLOP rule, then the rows.
void OperatorTable::add_times(const Family& family) {
  const TimeRules rules = family.times();
  for (Operator& one : operators_)
    if (one.family == family.name && one.flops != nullptr) one.launches = rules.usual;
  for (const TimeRule& rule : rules.rows) row(rule.op, family).launches = rule.launches;
}

Operator& OperatorTable::row(std::string_view op, const Family& family) {
  const auto [found, is_new] = by_name_.emplace(op, operators_.size());
  if (is_new) return operators_.emplace_back(Operator{op, family.name});
  return operators_[found->second];
}

const Operator* OperatorTable::find_row(std::string_view op) const {
  const auto found = by_name_.find(op);
  return found == by_name_.end() ? nullptr : &operators_[found->second];
}

Operator OperatorTable::find(std::string_view op) const {
  const Operator* own = find_row(op);
  Operator found = own != nullptr ? *own : Operator();
  if (found.flops != nullptr) return found;
  const Operator* plain = find_row(plain_name(op));
  if (plain == nullptr) return found;
  return {own != nullptr ? found.op : plain->op, plain->family, plain->flops, found.scratch,
          found.launches != nullptr ? found.launches : plain->launches};
}

Operator find_operator(std::string_view op) { return table().find(op); }

Operator find_operator(std::string_view op, const OperatorTable* own) {
  Operator found = find_operator(op);
  if (own == nullptr) return found;
  const Operator before = own->find(op);
  if (!before.family.empty()) found.op = before.op, found.family = before.family;
  if (before.flops != nullptr) found.flops = before.flops;
  if (before.scratch != nullptr) found.scratch = before.scratch;
  if (before.launches != nullptr) found.launches = before.launches;
  return found;
}

std::span<const Operator> operators() { return table().operators(); }

}  // namespace symprof::profile
