#include "meta/kernels/torchvision_autograd.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <string>
#include <vector>

namespace symprof::kernels {
namespace torchvision_autograd {
namespace {

using at::Tensor;
using Context = torch::autograd::AutogradContext;
using Tensors = torch::autograd::variable_list;
using Values = std::vector<c10::IValue>;

/// Calls the operator "torchvision::" + `name`.
Tensors call(const std::string& name, const Values& arguments) {
  torch::jit::Stack stack = arguments;
  c10::Dispatcher::singleton()
      .findSchemaOrThrow(("torchvision::" + name).c_str(), "")
      .callBoxed(&stack);
  Tensors made;
  for (const c10::IValue& value : stack) made.push_back(value.toTensor());
  return made;
}

/// Saves a call's numbers for backward.
void keep(Context& context, const Values& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    context.saved_data[std::to_string(i)] = numbers[i];
}

Values kept(Context& context) {
  Values numbers;
  for (std::size_t i = 0; context.saved_data.count(std::to_string(i)) > 0; ++i)
    numbers.push_back(context.saved_data[std::to_string(i)]);
  return numbers;
}

/// The count of an operator's numbers before the image sizes in its backward.
std::size_t numbers_before_image(const std::string& op) { return op == "ps_roi_align" ? 4 : 3; }

/// (input, rois, numbers…): saves the regions and the operator's extra outputs.
struct Regions : torch::autograd::Function<Regions> {
  static Tensors forward(Context* context, const Tensor& input, const Tensor& regions,
                         const std::string& op, const Values& numbers) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    Values arguments{input, regions};
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    Tensors made = call(op, arguments);
    Tensors saved{regions};
    if (made.size() > 1) {
      saved.push_back(made[1]);
      context->mark_non_differentiable({made[1]});
    }
    context->save_for_backward(saved);
    keep(*context, numbers);
    context->saved_data["op"] = op;
    context->saved_data["sizes"] = input.sizes().vec();
    return made;
  }

  static Tensors backward(Context* context, const Tensors& gradients) {
    const std::string op = context->saved_data["op"].toStringRef();
    const Values numbers = kept(*context);
    const auto image = numbers.begin() + static_cast<std::ptrdiff_t>(numbers_before_image(op));
    Values arguments{gradients[0]};
    for (const Tensor& tensor : context->get_saved_variables()) arguments.emplace_back(tensor);
    arguments.insert(arguments.end(), numbers.begin(), image);
    for (const int64_t size : context->saved_data["sizes"].toIntVector())
      arguments.emplace_back(size);
    arguments.insert(arguments.end(), image, numbers.end());
    return {call("_" + op + "_backward", arguments)[0], Tensor(), Tensor(), Tensor()};
  }
};

/// (input, weight, offset, mask, bias, numbers…): saves all tensors.
struct Deformed : torch::autograd::Function<Deformed> {
  static Tensor forward(Context* context, const Tensor& input, const Tensor& weight,
                        const Tensor& offset, const Tensor& mask, const Tensor& bias,
                        const Values& numbers) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    Values arguments{input, weight, offset, mask, bias};
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    context->save_for_backward({input, weight, offset, mask, bias});
    keep(*context, numbers);
    return call("deform_conv2d", arguments)[0];
  }

  static Tensors backward(Context* context, const Tensors& gradients) {
    Values arguments{gradients[0]};
    for (const Tensor& tensor : context->get_saved_variables()) arguments.emplace_back(tensor);
    const Values numbers = kept(*context);
    arguments.insert(arguments.end(), numbers.begin(), numbers.end());
    Tensors made = call("_deform_conv2d_backward", arguments);
    made.emplace_back();
    return made;
  }
};

/// Pops a call's arguments from the stack.
Values take(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const auto count = static_cast<std::ptrdiff_t>(op.schema().arguments().size());
  Values arguments(stack->end() - count, stack->end());
  stack->resize(stack->size() - static_cast<std::size_t>(count));
  return arguments;
}

void regions(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Values arguments = take(op, stack);
  const std::string& name = op.schema().name();
  for (const Tensor& made : Regions::apply(arguments[0].toTensor(), arguments[1].toTensor(),
                                           name.substr(name.find("::") + 2),
                                           Values(arguments.begin() + 2, arguments.end())))
    stack->emplace_back(made);
}

void deformed(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Values given = take(op, stack);
  stack->emplace_back(Deformed::apply(given[0].toTensor(), given[1].toTensor(), given[2].toTensor(),
                                      given[3].toTensor(), given[4].toTensor(),
                                      Values(given.begin() + 5, given.end())));
}

}  // namespace
}  // namespace torchvision_autograd

void register_torchvision_autograd(torch::Library& library) {
  using torch::CppFunction;
  for (const char* op : {"roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool"})
    library.impl(op, CppFunction::makeFromBoxedFunction<&torchvision_autograd::regions>());
  library.impl("deform_conv2d",
               CppFunction::makeFromBoxedFunction<&torchvision_autograd::deformed>());
}

}  // namespace symprof::kernels
