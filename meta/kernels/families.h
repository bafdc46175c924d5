// The list of all families of shape kernels.
//
// The dispatcher runs a shape kernel for a tensor without storage: it allocates the outputs that
// PyTorch's CUDA kernel would allocate (sizes, strides, dtype) and computes nothing. Only operators
// without such a kernel in the C++ build, or with one that follows the CPU, are here.
#pragma once

namespace torch {
class Library;
}

namespace symprof::kernels {

/// Each registers the kernels of meta/kernels/<family>.cpp.
void register_activation(torch::Library& library);
void register_arithmetic(torch::Library& library);
void register_attention(torch::Library& library);
void register_convolution(torch::Library& library);
void register_data_dependent(torch::Library& library);
void register_dropout(torch::Library& library);
void register_embedding(torch::Library& library);
void register_factory(torch::Library& library);
void register_fourier(torch::Library& library);
void register_indexing(torch::Library& library);
void register_jagged(torch::Library& library);
void register_linear_algebra(torch::Library& library);
void register_loss(torch::Library& library);
void register_low_precision(torch::Library& library);
void register_normalization(torch::Library& library);
void register_optimizer(torch::Library& library);
void register_out_variants(torch::Library& library);
void register_pooling(torch::Library& library);
void register_quantization(torch::Library& library);
void register_random(torch::Library& library);
void register_recurrent(torch::Library& library);
void register_reduction(torch::Library& library);
void register_refused(torch::Library& library);
void register_resampling(torch::Library& library);
void register_semi_structured(torch::Library& library);
void register_synchronized_norm(torch::Library& library);
void register_transformer(torch::Library& library);

/// Operators whose kernels make other calls, which are counted separately. They are registered
/// below autograd, on fake tensors.
void register_packing(torch::Library& library);
void register_transformer_layers(torch::Library& library);

inline constexpr void (*families[])(torch::Library&) = {
    register_activation,
    register_arithmetic,
    register_attention,
    register_convolution,
    register_data_dependent,
    register_dropout,
    register_embedding,
    register_factory,
    register_fourier,
    register_indexing,
    register_jagged,
    register_linear_algebra,
    register_loss,
    register_low_precision,
    register_normalization,
    register_optimizer,
    register_pooling,
    register_quantization,
    register_random,
    register_recurrent,
    register_reduction,
    register_refused,
    register_resampling,
    register_semi_structured,
    register_synchronized_norm,
    register_transformer,
    // Last: registers overloads without a kernel so far.
    register_out_variants,
};

}  // namespace symprof::kernels
