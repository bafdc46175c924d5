#include "meta/kernels/package_operators.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <iterator>
#include <mutex>

namespace symprof::kernels {
namespace {

/// A package that has registered its operators has registered `one`.
struct Package {
  const char* one;
  std::vector<torch::Library> (*define)();
};

constexpr Package packages[] = {
    {"quantized_decomposed::quantize_per_tensor", &define_quantized_decomposed},
    {"transformers::grouped_mm_fallback", &define_transformers_experts},
    {"torch_attn::_varlen_attn", &define_varlen_attention},
    {"torch_nn::_linear_cross_entropy_batch_chunked", &define_linear_cross_entropy},
    {"torchao::quantize_affine", &define_torchao},
    {"torchvision::nms", &define_torchvision},
};

struct Definitions {
  std::mutex mutex;
  int users = 0;
  std::vector<torch::Library> libraries;
};

Definitions& definitions() {
  static auto* shared = new Definitions;  // Outlives users that end at process exit.
  return *shared;
}

}  // namespace

torch::Library library_of(const char* package, torch::Library::Kind kind,
                          std::optional<c10::DispatchKey> key) {
  return {kind, package, key, __FILE__, __LINE__};
}

PackageOperators::PackageOperators() {
  Definitions& shared = definitions();
  const std::lock_guard lock(shared.mutex);
  if (shared.users++ > 0) return;
  for (const Package& package : packages) {
    if (c10::Dispatcher::singleton().findSchema({package.one, ""})) continue;
    std::vector<torch::Library> made = package.define();
    shared.libraries.insert(shared.libraries.end(), std::make_move_iterator(made.begin()),
                            std::make_move_iterator(made.end()));
  }
}

PackageOperators::~PackageOperators() {
  Definitions& shared = definitions();
  const std::lock_guard lock(shared.mutex);
  if (--shared.users == 0) shared.libraries.clear();
}

}  // namespace symprof::kernels
