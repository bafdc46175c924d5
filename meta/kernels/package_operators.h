// Operators defined by Python packages, for exported files that contain them: shape kernels and
// gradients in C++, if the package is not loaded.
#pragma once

#include <torch/library.h>

#include <optional>
#include <vector>

namespace symprof::kernels {

/// While it lives, the operators are registered, unless a package has registered its own.
class PackageOperators {
 public:
  PackageOperators();
  ~PackageOperators();
  PackageOperators(const PackageOperators&) = delete;
  PackageOperators& operator=(const PackageOperators&) = delete;
};

/// A library of the operators called `package`::…
torch::Library library_of(const char* package, torch::Library::Kind kind,
                          std::optional<c10::DispatchKey> key = std::nullopt);

/// Each registers one package's operators; the libraries unregister them when destroyed.
std::vector<torch::Library> define_quantized_decomposed();
std::vector<torch::Library> define_torchao();
std::vector<torch::Library> define_transformers_experts();
std::vector<torch::Library> define_varlen_attention();
std::vector<torch::Library> define_linear_cross_entropy();
std::vector<torch::Library> define_torchvision();

}  // namespace symprof::kernels
