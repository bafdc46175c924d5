// The weight matrices of cuDNN's recurrent layers.
#pragma once

#include <vector>

#include "profile/cost/call.h"

namespace symprof::profile {

/// Matrices among the weights of a call of _cudnn_rnn(input, weight[], weight_stride0, …) or its
/// backward, in order: of each layer and direction that of the input, that of the hidden state, and
/// that of a projection if there is one. Under autocast biases have two dimensions, too, so that
/// the place in the list decides (aten/src/ATen/native/cudnn/RNN.cpp, get_parameters).
std::vector<const TensorSpec*> recurrent_matrices(const Call& call);

}  // namespace symprof::profile
