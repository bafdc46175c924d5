// Compares two models with equal inputs and outputs on the same random inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workbench/difference.h"
#include "workbench/model.h"
#include "workbench/runnable.h"

namespace symprof::workbench {

struct VerifyOptions {
  std::map<std::string, std::int64_t> sizes;  ///< Of symbolic dimensions; defaults are 2, 3, ….
  /// A bound of |x - y| / max(1, the output's largest number). Default: 1e-5, 5e-3 where a model
  /// has float16, 4e-2 where it has bfloat16.
  std::optional<double> tolerance;
  std::uint64_t seed = 0;
};

struct OutputDifference : ValueDifference {
  std::string name;
};

/// The difference between the tensors of one output; numbers may differ by `tolerance` times max(1,
/// the largest of them).
OutputDifference output_difference(const std::string& name, const ValueRunner::Tensors& wanted,
                                   const ValueRunner::Tensors& got, double tolerance);

class Verifier {
 public:
  /// Draws inputs and runs `original` on them twice, to detect values that are random. Throws Error
  /// for graphs that the interpreter cannot run, weights with missing data, and values that differ
  /// from run to run.
  Verifier(const onnx::ModelProto& original, const std::string& path, ValueRunner runner,
           const VerifyOptions& options);

  /// Runs `model` on the same inputs. Throws Error if it cannot be run.
  std::vector<OutputDifference> compare(const onnx::ModelProto& model) const;

  double tolerance() const { return tolerance_; }
  /// "input_ids int64[2,8], attention_mask bool[2,8]"
  std::string inputs_text() const;

 private:
  std::vector<ValueRunner::Tensors> run(const onnx::ModelProto& model) const;

  std::string path_;
  ValueRunner runner_;
  double tolerance_ = 0;
  ValueRunner::Leaves inputs_;
  std::vector<std::string> names_;
  std::vector<ValueRunner::Tensors> wanted_;
};

}  // namespace symprof::workbench
