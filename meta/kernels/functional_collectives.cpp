// Functional collectives (torch/csrc/distributed/c10d/Functional.cpp): each creates a new tensor
// whose size depends on the group's ranks. Python registers the same kernels for its fake tensors
// (torch/distributed/_functional_collectives.py). Kernels are boxed, as the type of a group's name
// differs between PyTorch versions.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <string>
#include <vector>

namespace symprof::kernels {
namespace {

using at::Tensor;

c10::IValue argument_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack,
                        const char* name) {
  const auto index = op.schema().argumentIndexWithName(name);
  TORCH_CHECK(index, op.operator_name(), " has no argument ", name);
  const std::size_t first = stack.size() - op.schema().arguments().size();
  return stack[first + static_cast<std::size_t>(*index)];
}

Tensor input_of(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  return stack[stack.size() - op.schema().arguments().size()].toTensor();
}

void answer(const c10::OperatorHandle& op, torch::jit::Stack& stack, Tensor result) {
  torch::jit::drop(stack, op.schema().arguments().size());
  stack.emplace_back(std::move(result));
}

Tensor with_rows(const Tensor& input, std::int64_t rows) {
  std::vector<std::int64_t> sizes = input.sizes().vec();
  TORCH_CHECK(!sizes.empty(), "found a tensor without dimensions, wanted one with rows");
  sizes[0] = rows;
  return at::empty(sizes, input.options());
}

void same_size(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  answer(op, *stack, at::empty(input_of(op, *stack).sizes(), input_of(op, *stack).options()));
}

void all_gather(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Tensor input = input_of(op, *stack);
  answer(op, *stack,
         with_rows(input, input.size(0) * argument_of(op, *stack, "group_size").toInt()));
}

void reduce_scatter(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Tensor input = input_of(op, *stack);
  const std::int64_t ranks = argument_of(op, *stack, "group_size").toInt();
  TORCH_CHECK(ranks > 0 && input.size(0) % ranks == 0, "reduce_scatter: found ", input.size(0),
              " rows, wanted a multiple of ", ranks);
  answer(op, *stack, with_rows(input, input.size(0) / ranks));
}

void all_to_all(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Tensor input = input_of(op, *stack);
  const std::vector<std::int64_t> sizes =
      argument_of(op, *stack, "output_split_sizes").toIntVector();
  std::int64_t rows = sizes.empty() ? input.size(0) : 0;
  for (const std::int64_t size : sizes) rows += size;
  answer(op, *stack, with_rows(input, rows));
}

void wait(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  answer(op, *stack, input_of(op, *stack));
}

}  // namespace
}  // namespace symprof::kernels

TORCH_LIBRARY_IMPL(_c10d_functional, Meta, library) {
  namespace kernels = symprof::kernels;
  const auto add = [&](const char* name, torch::CppFunction&& kernel) {
    const auto op =
        c10::Dispatcher::singleton().findSchema({std::string("_c10d_functional::") + name, ""});
    if (op && !op->hasKernelForDispatchKey(c10::DispatchKey::Meta))
      library.impl(name, std::move(kernel));
  };
  using torch::CppFunction;
  add("all_reduce", CppFunction::makeFromBoxedFunction<&kernels::same_size>());
  add("broadcast", CppFunction::makeFromBoxedFunction<&kernels::same_size>());
  add("all_gather_into_tensor", CppFunction::makeFromBoxedFunction<&kernels::all_gather>());
  add("reduce_scatter_tensor", CppFunction::makeFromBoxedFunction<&kernels::reduce_scatter>());
  add("all_to_all_single", CppFunction::makeFromBoxedFunction<&kernels::all_to_all>());
  add("wait_tensor", CppFunction::makeFromBoxedFunction<&kernels::wait>());
}
