// The rules of the optimizer, in the order in which they are tried.
#pragma once

#include <span>

#include "workbench/optimize/rule.h"

namespace symprof::workbench {

std::span<const Rule> all_rules();

}  // namespace symprof::workbench
