// A call of an operator as a trace of torch.profiler tells it: no tensors, only what was recorded
// of each argument.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace symprof {

/// What the profiler wrote of one argument (torch/csrc/profiler/util.cpp).
struct OperatorArgument {
  std::string type;  ///< "float", "c10::BFloat16"; "Scalar", "ScalarList", "TensorList"; or "".
  std::vector<std::int64_t> sizes, strides;  ///< Of a tensor.
  std::string value;  ///< Of anything but a tensor: "[1, 1]", "True", "0.5"; "" for None.
  auto operator<=>(const OperatorArgument&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct OperatorCall {
  std::string op;  ///< "aten::addmm", without the overload, which traces do not have.
  std::vector<OperatorArgument> arguments;
  auto operator<=>(const OperatorCall&) const = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace symprof
