#include "meta/fake/host_inputs.h"

#include "base/error.h"
#include "base/given_values.h"
#include "base/values_setting.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/known_values.h"
#include "meta/fake/observer.h"

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

/// Without it, LibTorch's code would read unallocated memory.
[[noreturn]] void refuse_list(const at::Tensor& tensor) {
  if (const auto observer = current_observer()) observer->unbacked_number(storage_id(tensor), {});
  throw Error("prim::tolist",
              "the values of a tensor become a list, and a tensor without storage has no values",
              is_in_program()
                  ? "Say them with " + given_values() + "."
                  : "Give the values of the input that decides them with " + values_setting() +
                        ", or make the list from sizes and constants.");
}

}  // namespace

void move_host_inputs(std::string_view op, std::vector<c10::IValue>& arguments) {
  for (const HostInput& input : host_inputs) {
    if (input.op != op || input.index >= arguments.size()) continue;
    c10::IValue& argument = arguments[input.index];
    if (!argument.isTensor()) continue;
    if (auto values = known_values(argument.toTensor()))
      argument = *std::move(values);
    else if (op == "prim::tolist" && is_fake(argument.toTensor()))
      refuse_list(argument.toTensor());
  }
}

}  // namespace symprof::meta
