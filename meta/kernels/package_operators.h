// Operators that Python packages define, for files that were exported with them: shape kernels and
// gradients in C++, where the package is not loaded.
#pragma once

#include <torch/library.h>

#include <vector>

namespace symprof::kernels {

/// While it lives, the operators are known, where a package has not defined its own.
class PackageOperators {
 public:
  PackageOperators();
  ~PackageOperators();
  PackageOperators(const PackageOperators&) = delete;
  PackageOperators& operator=(const PackageOperators&) = delete;
};

/// Each defines those of one package; the libraries take them back when they go.
std::vector<torch::Library> define_transformers_experts();
std::vector<torch::Library> define_varlen_attention();
std::vector<torch::Library> define_linear_cross_entropy();
std::vector<torch::Library> define_torchvision();

}  // namespace symprof::kernels
