#include "meta/fake/one_device.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/tensors_in.h"

namespace symprof::meta {
namespace {

constexpr std::string_view takers_of_host_tensors[] = {
    // Copies (native/Copy.cpp, native/TensorConversions.cpp).
    "aten::copy_", "aten::_to_copy", "aten::_copy_from", "aten::_copy_from_and_resize",
    "aten::set_",
    // Indices are copied to the device (native/TensorAdvancedIndexing.cpp).
    "aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_",
    "aten::_unsafe_index", "aten::_unsafe_index_put", "aten::_unsafe_masked_index",
    "aten::_unsafe_masked_index_put_accumulate",
    // Lengths and batch sizes are read on the host (native/PackedSequence.cpp, native/RNN.cpp,
    // native/cudnn/RNN.cpp, native/cuda/LossCTC.cu, native/TensorShape.cpp).
    "aten::_pack_padded_sequence", "aten::_pad_packed_sequence",
    "aten::_pack_padded_sequence_backward", "aten::lstm", "aten::gru", "aten::rnn_tanh",
    "aten::rnn_relu", "aten::_cudnn_rnn", "aten::_cudnn_rnn_backward", "aten::_ctc_loss",
    "aten::_cudnn_ctc_loss", "aten::_use_cudnn_ctc_loss", "aten::_use_miopen_ctc_loss",
    "aten::_ctc_loss_backward", "aten::tensor_split",
    // Seeds and states of a generator.
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_dot_product_efficient_attention_backward",
    "aten::_scaled_dot_product_cudnn_attention_backward", "aten::_flash_attention_backward",
    "aten::_efficient_attention_backward"};

}  // namespace

bool takes_host_tensors(const c10::FunctionSchema& schema) {
  const std::string_view name = schema.name();
  if (!name.starts_with("aten::")) return true;
  // Foreach kernels fall back to one call for each tensor.
  return name.starts_with("aten::_foreach") ||
         std::ranges::find(takers_of_host_tensors, name) != std::end(takers_of_host_tensors);
}

void check_one_device(const c10::FunctionSchema& schema, const torch::jit::Stack& stack,
                      std::size_t first) {
  bool is_on_device = false;
  const std::string* on_host = nullptr;
  for (std::size_t i = first; i < stack.size(); ++i)
    for_each_tensor(stack[i], [&](const at::Tensor& tensor) {
      if (!tensor.defined()) return;
      if (is_fake(tensor))
        is_on_device |= tensor.is_cuda();
      else if (tensor.is_cpu() && tensor.dim() > 0)
        on_host = &schema.arguments()[i - first].name();
    });
  TORCH_CHECK(!is_on_device || on_host == nullptr,
              "Expected all tensors on the same device, but found at least two devices, cuda:0 and "
              "cpu! (when checking argument ",
              on_host == nullptr ? "" : *on_host, " of ", schema.name(), ")");
}

void check_index(const c10::Device& device) {
  if (device.is_cuda() && device.index() > 0)
    throw Error(device.str(), "of the devices of a program, cuda:0 alone is simulated",
                "Give each device a process of its own (torch.distributed).");
}

}  // namespace symprof::meta
