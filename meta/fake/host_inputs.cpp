#include "meta/fake/host_inputs.h"

#include "meta/fake/known_values.h"

namespace symprof::meta {
namespace {

struct HostInput {
  std::string_view op;
  std::size_t index;
};

constexpr HostInput host_inputs[] = {
    // native/PackedSequence.cpp, native/RNN.cpp
    {"aten::_pack_padded_sequence", 1},
    {"aten::_pad_packed_sequence", 1},
    {"aten::lstm.data", 1},
    {"aten::gru.data", 1},
    {"aten::rnn_tanh.data", 1},
    {"aten::rnn_relu.data", 1},
    // native/TensorShape.cpp
    {"aten::tensor_split.tensor_indices_or_sections", 1},
    // torch/csrc/jit/runtime/register_prim_ops.cpp
    {"prim::tolist", 0},
};

}  // namespace

void move_host_inputs(std::string_view op, std::vector<c10::IValue>& arguments) {
  for (const HostInput& input : host_inputs) {
    if (input.op != op || input.index >= arguments.size()) continue;
    c10::IValue& argument = arguments[input.index];
    if (!argument.isTensor()) continue;
    if (auto values = known_values(argument.toTensor())) argument = *std::move(values);
  }
}

}  // namespace symprof::meta
