#include "shape/interpreter/tensor_parallel.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "trace/graph/uses.h"
#include "trace/passes/pipeline_stages.h"
#include "trace/passes/tensor_parallel.h"

namespace symprof::shape {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr auto group = "tensor";

Tensor call_collective(const char* name, std::vector<c10::IValue> stack) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  op.callBoxed(stack);
  std::vector<c10::IValue> waiting = {stack.at(0)};
  c10::Dispatcher::singleton()
      .findSchemaOrThrow("_c10d_functional::wait_tensor", "")
      .callBoxed(waiting);
  return waiting.at(0).toTensor();
}

Tensor all_reduced(const Tensor& part, const char* reduction) {
  return call_collective("_c10d_functional::all_reduce", {part, reduction, group});
}

Tensor sum_over_ranks(const Tensor& part) { return all_reduced(part, "sum"); }

/// torch.distributed._functional_collectives.all_gather_tensor: the parts are gathered along
/// dimension 0 and copied to `dimension`.
Tensor gathered(const Tensor& part, std::int64_t ranks, std::int64_t dimension) {
  const Tensor all = call_collective("_c10d_functional::all_gather_into_tensor",
                                     {part.contiguous(), ranks, group});
  return dimension == 0 ? all : at::cat(at::chunk(all, ranks, 0), dimension);
}

/// reduce_scatter_tensor of the same file.
Tensor scattered(const Tensor& partial, std::int64_t ranks, std::int64_t dimension) {
  const Tensor parts = dimension == 0 ? partial : at::cat(at::chunk(partial, ranks, dimension), 0);
  return call_collective("_c10d_functional::reduce_scatter_tensor", {parts, "sum", ranks, group});
}

struct ReduceGradient : torch::autograd::Function<ReduceGradient> {
  static Tensor forward(AutogradContext*, const Tensor& whole) { return at::alias(whole); }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    return {sum_over_ranks(gradients[0])};
  }
};

struct Reduce : torch::autograd::Function<Reduce> {
  static Tensor forward(AutogradContext*, const Tensor& part) { return sum_over_ranks(part); }
  static variable_list backward(AutogradContext*, variable_list gradients) { return gradients; }
};

struct Gather : torch::autograd::Function<Gather> {
  static Tensor forward(AutogradContext* context, const Tensor& part, std::int64_t ranks,
                        std::int64_t dimension) {
    context->saved_data["ranks"] = ranks, context->saved_data["dimension"] = dimension;
    return gathered(part, ranks, dimension);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {scattered(gradients[0], context->saved_data["ranks"].toInt(),
                      context->saved_data["dimension"].toInt()),
            {},
            {}};
  }
};

struct Scatter : torch::autograd::Function<Scatter> {
  static Tensor forward(AutogradContext* context, const Tensor& partial, std::int64_t ranks,
                        std::int64_t dimension) {
    context->saved_data["ranks"] = ranks, context->saved_data["dimension"] = dimension;
    return scattered(partial, ranks, dimension);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {gathered(gradients[0], context->saved_data["ranks"].toInt(),
                     context->saved_data["dimension"].toInt()),
            {},
            {}};
  }
};

/// Parts are padded if the number of ranks does not divide the dimension.
struct Join : torch::autograd::Function<Join> {
  static Tensor forward(AutogradContext* context, const Tensor& part, std::int64_t ranks,
                        std::int64_t dimension, std::int64_t size) {
    context->saved_data["dimension"] = dimension;
    context->saved_data["own"] = part.size(dimension);
    const Tensor all = gathered(part, ranks, dimension);
    return all.size(dimension) == size ? all : all.narrow(dimension, 0, size).contiguous();
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {
        gradients[0]
            .narrow(context->saved_data["dimension"].toInt(), 0, context->saved_data["own"].toInt())
            .contiguous(),
        {},
        {},
        {}};
  }
};

/// Adds the gradients of two consumers as soon as both have arrived, as the engine accumulates them
/// (torch/csrc/autograd/input_buffer.cpp); into a new tensor, as for DTensors.
struct Sum final : torch::autograd::Node {
  Sum() : Node(/*sequence_nr=*/UINT64_MAX) {}
  variable_list apply(variable_list&& gradients) override {
    return {at::add(gradients[1], gradients[0])};
  }
};

/// Returns an alias for each of two consumers.
std::vector<c10::IValue> forked(const Tensor& whole) {
  Tensor parts[] = {whole.detach(), whole.detach()};
  if (at::GradMode::is_enabled() && whole.requires_grad()) {
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 13
    const auto sum = c10::make_intrusive<Sum>();
#else
    const auto sum = std::make_shared<Sum>();
#endif
    sum->set_next_edges(torch::autograd::collect_next_edges(whole));
    for (Tensor& part : parts) torch::autograd::create_gradient_edge(part, sum);
  }
  return {parts[0], parts[1]};
}

/// torch/distributed/tensor/_ops/_embedding_ops.py: rows of other ranks are masked. The gradient
/// covers all rows; the parameter gets a view of its own rows, which keeps the whole gradient
/// alive.
struct OwnRows : torch::autograd::Function<OwnRows> {
  static Tensor forward(AutogradContext* context, const Tensor& weight, const Tensor& words,
                        std::int64_t rows) {
    context->saved_data["rows"] = rows, context->saved_data["own"] = weight.size(0);
    context->save_for_backward({words});
    Tensor mask = at::bitwise_or(at::lt(words, 0), at::ge(words, weight.size(0)));
    Tensor own = at::sub(at::clone(words), 0);
    own.masked_fill_(mask, 0);
    Tensor result = at::embedding(weight, own);
    own.reset();
    result.masked_fill_(mask.unsqueeze(-1), 0);
    return result;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const Tensor all = at::embedding_dense_backward(gradients[0], context->get_saved_variables()[0],
                                                    context->saved_data["rows"].toInt(), -1, false);
    return {all.narrow(0, 0, context->saved_data["own"].toInt()), {}, {}};
  }
};

/// torch/distributed/tensor/parallel/loss.py, _log_softmax: the maximum and the sum are reduced
/// over all ranks. Variables are released in the order of Python's locals.
struct OwnLogProbabilities : torch::autograd::Function<OwnLogProbabilities> {
  static Tensor forward(AutogradContext* context, const Tensor& logits) {
    const Tensor own = logits.to(at::promote_types(logits.scalar_type(), at::kFloat));
    Tensor most = all_reduced(at::amax(own, {-1}, true), "max");
    Tensor shifted = at::sub(own, most);
    Tensor total = at::sum(at::exp(shifted), {-1}, true);
    total = sum_over_ranks(total);
    Tensor logarithm = at::log(total);
    Tensor result = at::sub(shifted, logarithm).to(logits.scalar_type());
    for (Tensor* one : {&shifted, &most, &total, &logarithm}) one->reset();
    context->save_for_backward({result});
    return result;
  }
  /// _log_softmax_backward_handler does nothing: the loss's backward computes both gradients.
  static variable_list backward(AutogradContext*, variable_list gradients) { return gradients; }
};

/// Mask of the targets that belong to other ranks.
Tensor words_of_others(const Tensor& targets, std::int64_t own) {
  return at::bitwise_or(at::lt(targets, 0), at::ge(targets, own));
}

/// _MaskPartial._partition_value of torch/distributed/tensor/_ops/_embedding_ops.py.
Tensor own_words(const Tensor& targets, const Tensor& mask) {
  Tensor own = at::sub(at::clone(targets), 0);
  return own.masked_fill_(mask, 0);
}

/// _nll_loss_forward and _nll_loss_and_log_softmax_backward of loss.py.
struct OwnLoss : torch::autograd::Function<OwnLoss> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& targets,
                        std::int64_t reduction, std::int64_t ignored) {
    context->saved_data["reduction"] = reduction, context->saved_data["ignored"] = ignored;
    Tensor safe = at::where(at::ne(targets, ignored), targets, at::Scalar(0)).unsqueeze(1);
    Tensor mask = words_of_others(safe, x.size(1));
    Tensor own = own_words(safe, mask);
    Tensor part = at::gather(x, 1, own);
    part.masked_fill_(mask, 0);
    mask.reset();
    Tensor all = sum_over_ranks(part);
    Tensor result = at::neg(all.squeeze(1));
    Tensor counted = at::where(at::ne(targets, ignored), result, at::Scalar(0));
    result = std::move(counted);
    Tensor weight;
    if (reduction == at::Reduction::None) {
      weight = at::zeros({}, x.options());
    } else {
      const Tensor count = at::sum(at::ne(targets, ignored));
      weight = count.to(x.scalar_type());
    }
    if (reduction != at::Reduction::None) {
      Tensor sum = at::sum(result);
      Tensor loss = reduction == at::Reduction::Mean ? at::div(sum, weight) : sum;
      sum.reset();
      result = std::move(loss);
    }
    for (Tensor* one : {&safe, &own, &part, &all}) one->reset();
    context->save_for_backward({x, targets, weight});
    return result;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const std::int64_t ignored = context->saved_data["ignored"].toInt();
    const variable_list saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    Tensor gradient = std::move(gradients[0]);
    if (context->saved_data["reduction"].toInt() == at::Reduction::Mean)
      gradient = at::div(gradient, saved[2]);
    const Tensor targets = saved[1].unsqueeze(1);
    Tensor safe = at::where(at::ne(targets, ignored), targets, at::Scalar(0));
    Tensor whole = at::zeros_like(x);
    safe = safe.squeeze(1);
    Tensor mask = words_of_others(safe, x.size(1));
    Tensor own = own_words(safe, mask);
    Tensor number = mask.to(whole.scalar_type());
    Tensor update = at::sub(number, 1.0);
    number.reset();
    Tensor places = at::arange(own.size(0), own.options());
    whole.index_put_({places, own}, update);
    if (gradient.dim() > 0) gradient = gradient.unsqueeze(1);
    Tensor counted = at::where(at::ne(targets, ignored), gradient, at::Scalar(0));
    gradient = std::move(counted);
    Tensor sum = at::add(whole, at::exp(x));
    Tensor result = at::mul(sum, gradient);
    for (Tensor* one : {&sum, &gradient, &safe, &whole, &mask, &own, &update, &places})
      one->reset();
    return {result, {}, {}, {}};
  }
};

/// A leaf tensor, as the receive buffer of torch/distributed/pipelining/stage.py
/// (_retrieve_recv_activations).
Tensor received(const Node& node, c10::Device device) {
  const auto* sizes = trace::argument_at<std::vector<std::int64_t>>(node, 0);
  const auto* dtype = trace::argument_at<DType>(node, 1);
  const auto* has_gradient = trace::argument_at<bool>(node, 2);
  const Tensor buffer =
      at::empty(*sizes, at::TensorOptions(device).dtype(meta::scalar_type(*dtype)));
  return buffer.set_requires_grad(*has_gradient && at::GradMode::is_enabled());
}

}  // namespace

bool is_of_rank(std::string_view op) {
  return op.starts_with(trace::tensor_parallel_prefix) || op == trace::pipeline_receive;
}

std::vector<c10::IValue> run_of_rank(const Node& node, const std::vector<c10::IValue>& values,
                                     c10::Device device) {
  if (node.op == trace::pipeline_receive) return {received(node, device)};
  std::vector<Tensor> tensors;
  std::vector<std::int64_t> numbers;
  for (const Argument& argument : node.arguments) {
    if (const auto* ref = std::get_if<ValueRef>(&argument.value))
      tensors.push_back(values.at(static_cast<std::size_t>(ref->id)).toTensor());
    else if (const auto* number = std::get_if<std::int64_t>(&argument.value))
      numbers.push_back(*number);
  }
  const std::string_view name =
      std::string_view(node.op).substr(trace::tensor_parallel_prefix.size());
  const Tensor& input = tensors.at(0);
  if (name == "reduce_gradient") return {ReduceGradient::apply(input)};
  if (name == "partial") return {at::alias(input)};
  if (name == "reduce") return {Reduce::apply(input)};
  if (name == "gather") return {Gather::apply(input, numbers.at(0), numbers.at(1))};
  if (name == "scatter") return {Scatter::apply(input, numbers.at(0), numbers.at(1))};
  if (name == "join") return {Join::apply(input, numbers.at(0), numbers.at(1), numbers.at(2))};
  if (name == "embedding") return {OwnRows::apply(input, tensors.at(1), numbers.at(0))};
  if (name == "cross_entropy")
    return {OwnLoss::apply(OwnLogProbabilities::apply(input), tensors.at(1), numbers.at(0),
                           numbers.at(1))};
  if (name != "fork")
    throw Error("", "no rule for this operator", "It is not one that is written.");
  return forked(input);
}

}  // namespace symprof::shape
