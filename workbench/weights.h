// Models without their weights, and with others in their place.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>

#include "base/tensor_spec.h"
#include "workbench/model.h"

namespace symprof::workbench {

/// Bytes of `count` normal numbers, the same for each `seed`; zeros for dtypes that are no floating
/// point of 16 bits or more.
std::string normal_bytes(DType dtype, std::int64_t count, std::uint64_t seed, double mean = 0,
                         double deviation = 0.02);

struct WeightsReport {
  std::int64_t tensors = 0, bytes = 0;
};

/// The largest tensor that stripping keeps, in bytes: what shape arithmetic and masks need.
constexpr std::int64_t largest_kept_by_strip = 4096;

/// Takes the data out of initializers of more than `largest` bytes, and notes mean, standard
/// deviation, least and greatest value of each in its metadata, where the data is in the file. They
/// become external data in a file that is not there, so that names, types and shapes stay: what
/// profiling needs.
WeightsReport strip(onnx::ModelProto& model, std::int64_t largest);

/// Gives data to initializers whose data is not in the file and not in the folder of `path`: normal
/// numbers with the mean and standard deviation that strip() noted, within its bounds; without a
/// note with mean 0 and deviation 0.02 (integers and booleans: zeros). Numbers follow from `seed`
/// and the name of the tensor alone. Throws Error for a model that would have 2 GiB or more.
WeightsReport fill(onnx::ModelProto& model, const std::string& path, std::uint64_t seed);

}  // namespace symprof::workbench
