// Models without their weights, or with random weights instead.
#pragma once

#include <cstdint>
#include <string>

#include "base/tensor_spec.h"
#include "workbench/model.h"

namespace symprof::workbench {

/// Bytes of `count` normal numbers, deterministic for each `seed`; zeros for dtypes other than
/// floating point of 16 bits or more.
std::string normal_bytes(DType dtype, std::int64_t count, std::uint64_t seed, double mean = 0,
                         double deviation = 0.02);

struct WeightsReport {
  std::int64_t tensors = 0, bytes = 0;
};

/// The largest tensor that stripping keeps, in bytes: sufficient for shape arithmetic and masks.
constexpr std::int64_t largest_kept_by_strip = 4096;

/// Removes the data of initializers larger than `largest` bytes, and records mean, standard
/// deviation, minimum and maximum of each in its metadata, if the data is in the file. They become
/// external data in a file that does not exist, so that names, types and shapes remain: what
/// profiling needs.
WeightsReport strip(onnx::ModelProto& model, std::int64_t largest);

/// Fills initializers whose data is neither in the file nor in the folder of `path`: normal numbers
/// with the mean and standard deviation recorded by strip(), within its bounds; without a record,
/// mean 0 and deviation 0.02 (integers and booleans: zeros). Numbers depend only on `seed` and the
/// tensor's name. Throws Error for a model that would have 2 GiB or more.
WeightsReport fill(onnx::ModelProto& model, const std::string& path, std::uint64_t seed);

}  // namespace symprof::workbench
