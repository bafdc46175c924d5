// Conversions between numbers and constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::workbench {

using ConstantPointer = std::shared_ptr<const ConstantTensor>;

constexpr std::size_t all_elements = std::numeric_limits<std::size_t>::max();

/// The first `most` elements of an integer or boolean constant, as used for axes, shapes and
/// bounds; empty for uint64 and other dtypes.
std::vector<std::int64_t> integers_of(const ConstantTensor& tensor,
                                      std::size_t most = all_elements);
/// The first `most` numbers of any real constant; empty for dtypes below a byte and for uint64.
std::vector<double> reals_of(const ConstantTensor& tensor, std::size_t most = all_elements);
/// A constant of `dtype` with these numbers, rounded to it; null where `dtype` cannot hold numbers.
ConstantPointer make_constant(DType dtype, std::vector<std::int64_t> sizes,
                              const std::vector<double>& values);
ConstantPointer make_integers(std::vector<std::int64_t> sizes,
                              const std::vector<std::int64_t>& values, DType dtype = DType::int64);

}  // namespace symprof::workbench
