// F.linear_cross_entropy in chunks of the batch: a PyTorch operator defined in Python
// (torch/nn/modules/linear_cross_entropy.py). Its forward pass computes the gradients, which
// backward multiplies by the loss's gradient.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <optional>
#include <string>

#include "meta/kernels/allocation.h"
#include "meta/kernels/package_operators.h"

namespace symprof::kernels {
namespace linear_cross_entropy {
namespace {

using at::Tensor;
using std::optional;
using Four = std::tuple<Tensor, Tensor, Tensor, Tensor>;

/// The options of the loss.
struct Settings {
  std::string reduction;
  int64_t ignore_index;
  double label_smoothing;
  int64_t chunk;
  std::string policy;
  at::ScalarType dtype;
  bool may_run_again, of_input, of_weight, of_bias;
};

/// input [N, F], linear_weight [V, F]; gradients that are not requested are empty.
Four loss_and_gradients(const Tensor& input, const Tensor& linear_weight, const Tensor&,
                        const optional<Tensor>&, const optional<Tensor>&, c10::string_view, int64_t,
                        double, int64_t, c10::string_view, at::ScalarType, bool, bool of_input,
                        bool of_weight, bool of_bias) {
  TORCH_CHECK(
      input.dim() == 2 && linear_weight.dim() == 2 && input.size(1) == linear_weight.size(1),
      "linear_cross_entropy: found [", input.sizes(), "] and the weight [", linear_weight.sizes(),
      "], wanted [N, F] and [V, F]");
  const auto gradient = [&](bool is_wanted, at::IntArrayRef sizes) {
    const std::vector<int64_t> none(sizes.size(), 0);
    return fresh(is_wanted ? sizes : at::IntArrayRef(none), input);
  };
  return {fresh({}, input), gradient(of_input, input.sizes()),
          gradient(of_weight, linear_weight.sizes()),
          gradient(of_bias, linear_weight.sizes().slice(0, 1))};
}

struct Loss : torch::autograd::Function<Loss> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static Tensors forward(Context* context, const Tensor& input, const Tensor& linear_weight,
                         const Tensor& target, const optional<Tensor>& bias,
                         const optional<Tensor>& weight, const Settings& s) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto [loss, of_input, of_weight, of_bias] =
        c10::Dispatcher::singleton()
            .findSchemaOrThrow("torch_nn::_linear_cross_entropy_batch_chunked", "")
            .typed<decltype(loss_and_gradients)>()
            .call(input, linear_weight, target, bias, weight, s.reduction, s.ignore_index,
                  s.label_smoothing, s.chunk, s.policy, s.dtype, s.may_run_again, s.of_input,
                  s.of_weight, s.of_bias);
    context->mark_non_differentiable({of_input, of_weight, of_bias});
    context->saved_data["again"] = s.may_run_again;
    const auto keep = [&](const char* name, bool is_wanted, const Tensor& gradient) {
      if (is_wanted) context->saved_data[name] = gradient.detach();
    };
    keep("input", s.of_input, of_input);
    keep("weight", s.of_weight, of_weight);
    keep("bias", s.of_bias, of_bias);
    return {loss, of_input, of_weight, of_bias};
  }

  static Tensors backward(Context* context, const Tensors& gradients) {
    const auto scaled = [&](const char* name) {
      auto& kept = context->saved_data;
      if (kept.count(name) == 0) return Tensor();
      Tensor gradient = kept[name].toTensor();
      if (kept["again"].toBool()) return gradient.mul(gradients[0]);
      kept.erase(name);
      return gradient.mul_(gradients[0]);
    };
    return {scaled("input"), scaled("weight"), Tensor(), scaled("bias"), Tensor(), Tensor()};
  }
};

Four with_autograd(const Tensor& input, const Tensor& linear_weight, const Tensor& target,
                   const optional<Tensor>& bias, const optional<Tensor>& weight,
                   c10::string_view reduction, int64_t ignore_index, double label_smoothing,
                   int64_t chunk, c10::string_view policy, at::ScalarType dtype, bool may_run_again,
                   bool of_input, bool of_weight, bool of_bias) {
  const auto made = Loss::apply(
      input, linear_weight, target, bias, weight,
      Settings{std::string(reduction), ignore_index, label_smoothing, chunk, std::string(policy),
               dtype, may_run_again, of_input, of_weight, of_bias});
  return {made[0], made[1], made[2], made[3]};
}

}  // namespace
}  // namespace linear_cross_entropy

std::vector<torch::Library> define_linear_cross_entropy() {
  using namespace linear_cross_entropy;
  std::vector<torch::Library> libraries;
  libraries.push_back(library_of("torch_nn", torch::Library::FRAGMENT));
  libraries.back().def(
      "_linear_cross_entropy_batch_chunked(Tensor input, Tensor linear_weight, Tensor target, "
      "Tensor? linear_bias, Tensor? weight, str reduction, int ignore_index, "
      "float label_smoothing, int batch_chunk_size, str acc_policy, ScalarType acc_dtype, "
      "bool allow_retain_graph, bool compute_input_grad, bool compute_linear_weight_grad, "
      "bool compute_linear_bias_grad) -> (Tensor, Tensor, Tensor, Tensor)");
  libraries.push_back(library_of("torch_nn", torch::Library::IMPL, c10::DispatchKey::Meta));
  libraries.back().impl("_linear_cross_entropy_batch_chunked", &loss_and_gradients);
  libraries.push_back(library_of("torch_nn", torch::Library::IMPL, c10::DispatchKey::Autograd));
  libraries.back().impl("_linear_cross_entropy_batch_chunked", &with_autograd);
  return libraries;
}

}  // namespace symprof::kernels
