// .pt2 and .pt archives without their weights, and with random ones in their place.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>

#include "workbench/weights.h"

namespace symprof::workbench {

/// Writes the archive at `from` to `to` without the data of tensors of more than `largest` bytes:
/// .pt2 without their records, as torch.export lets them be, TorchScript with empty ones. All else
/// is copied, unpacked. Throws Error: no archive of a model, damaged, `to` cannot be written.
WeightsReport strip_archive(const std::string& from, const std::string& to, std::int64_t largest);

/// Writes the archive at `from` to `to` with normal numbers (mean 0, deviation 0.02; 1 for running
/// variances of .pt2; zeros for integers) where it lacks the data of a tensor, the same for each
/// `seed`. Throws Error as above, and where the archive does not say how large a tensor is.
WeightsReport fill_archive(const std::string& from, const std::string& to, std::uint64_t seed);

}  // namespace symprof::workbench
