// The families of shape kernels, and the one place where they are listed.
//
// A shape kernel is what the dispatcher runs for a tensor without storage: it allocates the outputs
// that PyTorch's CUDA kernel would allocate (sizes, strides, dtype) and computes nothing. Only
// operators whose C++ build has no such kernel, or one that answers for the CPU, are here.
#pragma once

namespace torch {
class Library;
}

namespace symprof::kernels {

void register_activation(torch::Library& library);
void register_attention(torch::Library& library);
void register_convolution(torch::Library& library);
void register_data_dependent(torch::Library& library);
void register_dropout(torch::Library& library);
void register_indexing(torch::Library& library);
void register_normalization(torch::Library& library);
void register_pooling(torch::Library& library);

inline constexpr void (*families[])(torch::Library&) = {
    register_activation, register_attention, register_convolution,   register_data_dependent,
    register_dropout,    register_indexing,  register_normalization, register_pooling,
};

}  // namespace symprof::kernels
