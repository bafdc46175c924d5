// The difference between the values of two results.
#pragma once

#include "workbench/difference.h"
#include "workbench/runnable.h"

namespace symprof::workbench {

/// The difference of two tensors, or of two sequences of them. Dtypes may differ if both are
/// numeric.
ValueDifference difference_of(const ValueRunner::Tensors& x, const ValueRunner::Tensors& y,
                              double tolerance);

}  // namespace symprof::workbench
