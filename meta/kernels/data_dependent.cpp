// Operators whose output size or value is only known once there is data: an error that says so.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

void refuse_size(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK(false, op.operator_name(), ": its output size depends on data, and a tensor without ",
              "storage has none; replace it with an operator of static size, or keep its input a ",
              "constant");
}

void refuse_value(const c10::OperatorHandle& op, torch::jit::Stack*) {
  TORCH_CHECK(false, op.operator_name(), ": its result depends on data, and a tensor without ",
              "storage has none; keep its input a constant");
}

constexpr const char* size_depends_on_data[] = {
    "nonzero",          "nonzero.out",
    "masked_select",    "masked_select.out",
    "_unique",          "_unique2",
    "unique_dim",       "unique_consecutive",
    "bincount",         "unique_dim_consecutive",
    "_ctc_loss.Tensor",
};

constexpr const char* value_depends_on_data[] = {"_local_scalar_dense", "equal"};

}  // namespace

void register_data_dependent(torch::Library& library) {
  for (const char* op : size_depends_on_data) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&refuse_size>());
  }
  for (const char* op : value_depends_on_data) {
    library.impl(op, torch::CppFunction::makeFromBoxedFunction<&refuse_value>());
  }
}

}  // namespace symprof::kernels
