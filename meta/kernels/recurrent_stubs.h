// Dispatch from at::lstm, at::gru, at::rnn_* to cuDNN's fused layers: missing in a CPU build, and
// dependent on a device in a CUDA build.
#pragma once

namespace symprof::kernels {

/// Fills the dispatch stubs of ATen/native/RNN.h for CUDA: each calls at::_cudnn_rnn as
/// native/cudnn/RNN.cpp does. Once per process.
void install_recurrent_stubs();

}  // namespace symprof::kernels
