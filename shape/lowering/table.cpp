#include <algorithm>
#include <map>
#include <stdexcept>

#include "shape/lowering/families.h"

namespace symprof::lowering {
namespace {

using Table = std::map<std::string_view, const Lowering*>;

const Table& table() {
  static const Table all = [] {
    Table rows;
    for (const auto family : families)
      for (const Lowering& row : family())
        if (!rows.emplace(row.op, &row).second)
          throw std::logic_error("two lowerings for " + std::string(row.op));
    return rows;
  }();
  return all;
}

}  // namespace

const Lowering* find_lowering(std::string_view op) {
  const auto found = table().find(op);
  return found == table().end() ? nullptr : found->second;
}

std::vector<std::string> known_operators() {
  std::vector<std::string> names;
  for (const auto& [op, row] : table()) names.emplace_back(op);
  return names;
}

}  // namespace symprof::lowering
