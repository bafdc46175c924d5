#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/fake/cuda_backend.h"
#include "meta/fake/cuda_library.h"
#include "meta/kernels/composites.h"
#include "meta/kernels/families.h"
#include "meta/kernels/recurrent_autocast.h"
#include "meta/kernels/recurrent_stubs.h"

namespace {

// `_fused_rms_norm`, `silu_backward` and `mish_backward` are composite operators that a CUDA build
// overrides (native_functions.yaml: CUDA beside CompositeImplicitAutograd). Without a registered
// CUDA kernel, the dispatcher resolves AutogradCUDA to the composite kernel, and its parts run
// instead of one call. Registering any kernel at CUDA restores the call; the kernel is never
// reached, because fake tensors are handled above the CUDA key.
void no_cuda_kernel(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK(false, op.operator_name(), ": found a CUDA tensor with storage, wanted a fake one; ",
              "this build of LibTorch has no CUDA kernels");
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, Meta, library) {
  for (const auto register_family : symprof::kernels::families) register_family(library);
}

TORCH_LIBRARY_IMPL(aten, Fake, library) {
  symprof::kernels::register_packing(library);
  symprof::kernels::register_transformer_layers(library);
}

TORCH_LIBRARY_IMPL(aten, AutogradCUDA, library) { symprof::kernels::register_composites(library); }

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  // LibTorch's own CUDA kernels, if loaded, are kept.
  const auto is_missing = [](const char* name) {
    if (symprof::meta::has_cuda_kernels()) return false;
    const auto op = c10::Dispatcher::singleton().findSchema({std::string("aten::") + name, ""});
    return op && !op->hasKernelForDispatchKey(c10::DispatchKey::CUDA);
  };
  for (const char* name :
       {"_fused_rms_norm", "_fused_rms_norm_backward", "silu_backward", "mish_backward"}) {
    if (is_missing(name)) {
      library.impl(name, torch::CppFunction::makeFromBoxedFunction<&no_cuda_kernel>());
    }
  }
  symprof::kernels::install_recurrent_stubs();
}

// LibTorch's CUDA library has its own kernel, which queries cuDNN.
TORCH_LIBRARY_IMPL(aten, Autocast, library) {
  if (symprof::meta::has_cuda_kernels())
    return symprof::meta::add_detour({"_cudnn_rnn", c10::DispatchKey::Autocast,
                                      c10::KernelFunction::makeFromUnboxedRuntimeFunction(
                                          &symprof::kernels::cudnn_rnn_under_autocast)});
  const auto op = c10::Dispatcher::singleton().findSchema({"aten::_cudnn_rnn", ""});
  if (op && !op->hasKernelForDispatchKey(c10::DispatchKey::Autocast))
    library.impl("_cudnn_rnn", &symprof::kernels::cudnn_rnn_under_autocast);
}
