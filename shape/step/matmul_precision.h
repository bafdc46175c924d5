// torch.set_float32_matmul_precision for the duration of a step.
#pragma once

#include <ATen/Context.h>

#include <array>
#include <cstddef>
#include <optional>

#include "record/step_options.h"

namespace symprof::shape {

/// Sets the process's precision to `precision` while it lives. If empty, the program's precision is
/// left unchanged.
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
  /// LibTorch's enumeration has the same three values in the same order.
  static const char* in_libtorch(auto precision) {
    using Theirs = at::Float32MatmulPrecision;
    static_assert(static_cast<int>(Theirs::HIGHEST) == static_cast<int>(MatmulPrecision::highest));
    static_assert(static_cast<int>(Theirs::HIGH) == static_cast<int>(MatmulPrecision::high));
    static_assert(static_cast<int>(Theirs::MEDIUM) == static_cast<int>(MatmulPrecision::medium));
    constexpr std::array names = {"highest", "high", "medium"};
    return names.at(static_cast<std::size_t>(precision));
  }

  const char* before_ = nullptr;  ///< Null: nothing was changed.
};

}  // namespace symprof::shape
