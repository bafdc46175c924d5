// How far the values of two results are from each other.
#pragma once

#include "workbench/difference.h"
#include "workbench/runnable.h"

namespace symprof::workbench {

/// Of tensors, or of sequences of them. Dtypes may differ, where both have numbers.
ValueDifference difference_of(const ValueRunner::Tensors& x, const ValueRunner::Tensors& y,
                              double tolerance);

}  // namespace symprof::workbench
