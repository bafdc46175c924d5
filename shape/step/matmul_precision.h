// torch.set_float32_matmul_precision for as long as a step lasts.
#pragma once

#include <ATen/Context.h>

#include <optional>

#include "record/step_options.h"

namespace symprof::shape {

/// The process's precision is `precision` while it lives. Where that is empty nothing is changed,
/// and nothing restored: the precision is the program's.
class MatmulPrecisionRegion {
 public:
  explicit MatmulPrecisionRegion(std::optional<MatmulPrecision> precision) {
    if (!precision) return;
    before_ = in_libtorch(at::globalContext().float32MatmulPrecision());
    at::globalContext().setFloat32MatmulPrecision(in_libtorch(*precision));
  }
  ~MatmulPrecisionRegion() {
    if (before_ != nullptr) at::globalContext().setFloat32MatmulPrecision(before_);
  }
  MatmulPrecisionRegion(const MatmulPrecisionRegion&) = delete;
  MatmulPrecisionRegion& operator=(const MatmulPrecisionRegion&) = delete;

 private:
  static const char* in_libtorch(MatmulPrecision precision) {
    switch (precision) {
      case MatmulPrecision::highest:
        return "highest";
      case MatmulPrecision::high:
        return "high";
      case MatmulPrecision::medium:
        return "medium";
    }
    return "highest";
  }

  static const char* in_libtorch(at::Float32MatmulPrecision precision) {
    switch (precision) {
      case at::Float32MatmulPrecision::HIGHEST:
        return "highest";
      case at::Float32MatmulPrecision::HIGH:
        return "high";
      case at::Float32MatmulPrecision::MEDIUM:
        return "medium";
    }
    return "highest";
  }

  const char* before_ = nullptr;  ///< Null: nothing was changed.
};

}  // namespace symprof::shape
