// .pt2 and .pt archives without their weights, or with random weights instead.
#pragma once

#include <cstdint>
#include <string>

#include "workbench/weights.h"

namespace symprof::workbench {

/// Writes the archive at `from` to `to` without the data of tensors larger than `largest` bytes:
/// .pt2 without their records, which torch.export allows, TorchScript with empty ones. Everything
/// else is copied, uncompressed. Throws Error if it is no model archive or damaged, or if `to`
/// cannot be written.
WeightsReport strip_archive(const std::string& from, const std::string& to, std::int64_t largest);

/// Writes the archive at `from` to `to`, with normal random numbers (mean 0, deviation 0.02; 1 for
/// running variances of .pt2; zeros for integers) where tensor data is missing, deterministic for
/// each `seed`. Throws Error as above, and where the archive does not state the size of a tensor.
WeightsReport fill_archive(const std::string& from, const std::string& to, std::uint64_t seed);

}  // namespace symprof::workbench
