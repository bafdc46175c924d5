#include "shape/interpreter/expert_parallel.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>

#include "trace/graph/uses.h"
#include "trace/passes/expert_parallel.h"

namespace symprof::shape {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// torch.distributed._functional_collectives.all_to_all_single with an immediate wait. `splits` are
/// the rows sent to and received from each rank; empty: equal parts.
Tensor exchanged(const Tensor& rows, const std::vector<std::int64_t>& splits) {
  std::vector<c10::IValue> stack = {rows.contiguous(), splits, splits, "expert"};
  c10::Dispatcher::singleton()
      .findSchemaOrThrow("_c10d_functional::all_to_all_single", "")
      .callBoxed(stack);
  c10::Dispatcher::singleton()
      .findSchemaOrThrow("_c10d_functional::wait_tensor", "")
      .callBoxed(stack);
  return stack.at(0).toTensor();
}

/// Backward exchanges the gradient in the opposite direction.
struct Exchange : torch::autograd::Function<Exchange> {
  static Tensor forward(AutogradContext* context, const Tensor& rows,
                        const std::vector<std::int64_t>& splits) {
    context->saved_data["splits"] = splits;
    return exchanged(rows, splits);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {exchanged(gradients[0], context->saved_data["splits"].toIntVector()), {}};
  }
};

/// Turns the sum over all ranks' samples into a mean, as for gradients of other parameters.
struct Average : torch::autograd::Function<Average> {
  static Tensor forward(AutogradContext* context, const Tensor& weight, std::int64_t ranks) {
    context->saved_data["ranks"] = ranks;
    return at::alias(weight);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {at::div(gradients[0], at::Scalar(context->saved_data["ranks"].toInt())), {}};
  }
};

std::vector<std::int64_t> even_parts(std::int64_t rows, std::int64_t ranks) {
  std::vector<std::int64_t> parts(static_cast<std::size_t>(ranks), rows / ranks);
  for (std::int64_t i = 0; i < rows % ranks; ++i) ++parts[static_cast<std::size_t>(i)];
  return parts;
}

/// `_dispatch` of the file: rows, the end of each own expert's rows, and their order.
std::vector<c10::IValue> dispatch(const Tensor& rows, const Tensor& ends, std::int64_t ranks) {
  const Tensor counts = at::diff(ends, 1, 0, at::zeros({1}, ends.options()));
  const Tensor received = exchanged(counts, {});
  const Tensor by_rank = received.view({ranks, -1});
  at::sum(counts.view({ranks, -1}), 1).cpu();
  at::sum(by_rank, 1).cpu();
  const Tensor arrived = Exchange::apply(rows, even_parts(rows.size(0), ranks));
  const Tensor experts =
      at::arange(by_rank.size(1), ends.options().dtype(at::kLong)).repeat({ranks});
  const Tensor of_rows = experts.repeat_interleave(received, std::nullopt, arrived.size(0));
  const Tensor order = at::argsort(of_rows, /*stable=*/true);
  return {at::index_select(arrived, 0, order),
          at::cumsum(at::sum(by_rank, 0), 0, ends.scalar_type()), order};
}

/// `_combine` of the file.
Tensor combine(const Tensor& rows, const Tensor& order, std::int64_t ranks) {
  return Exchange::apply(at::index_select(rows, 0, at::argsort(order)),
                         even_parts(rows.size(0), ranks));
}

}  // namespace

bool is_of_experts(std::string_view op) { return op.starts_with(trace::expert_parallel_prefix); }

std::vector<c10::IValue> run_of_experts(const Node& node, const std::vector<c10::IValue>& values) {
  const auto tensor = [&](std::size_t index) {
    return values.at(static_cast<std::size_t>(trace::operand(node, index))).toTensor();
  };
  const std::int64_t ranks = std::get<std::int64_t>(node.arguments.back().value);
  const std::string_view name =
      std::string_view(node.op).substr(trace::expert_parallel_prefix.size());
  if (name == "average") return {Average::apply(tensor(0), ranks)};
  if (name == "dispatch") return dispatch(tensor(0), tensor(1), ranks);
  return {combine(tensor(0), tensor(1), ranks)};
}

}  // namespace symprof::shape
