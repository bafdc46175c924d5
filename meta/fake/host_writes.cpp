#include "meta/fake/host_writes.h"

#include <ATen/ATen.h>
#include <ATen/core/function_schema.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "meta/fake/fake_tensor.h"
#include "meta/fake/host_copies.h"
#include "meta/fake/known_values.h"
#include "meta/fake/pinned_memory.h"
#include "meta/fake/tensors_in.h"

namespace symprof::meta {
namespace {

thread_local const std::function<void()>* current_listener = nullptr;

/// Operators that copy their second operand into their first.
constexpr std::string_view copying_operators[] = {"aten::copy_", "aten::fill_",
                                                  "aten::_foreach_copy_"};

std::vector<at::Tensor> tensors_in_operand(const c10::IValue& value) {
  std::vector<at::Tensor> operands;
  for_each_tensor(value, [&](const at::Tensor& tensor) { operands.push_back(tensor); });
  return operands;
}

bool lies_on_host(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cpu() && !is_fake(tensor);
}

/// True for offloaded tensors. Floating-point numbers copied into pinned memory are offloaded: they
/// are copied back to the device, or used by an optimizer on the host. Tensors of any dtype that a
/// kernel itself writes there are an optimizer's paged states.
bool is_offloaded(const at::Tensor& real, bool is_copy) {
  const bool may_be = !is_copy || at::isFloatingType(real.scalar_type());
  return may_be && real.numel() > 1 && is_pinned(real.const_data_ptr());
}

void write(const at::Tensor& real, const at::Tensor& source, bool is_copy,
           const std::shared_ptr<Observer>& observer) {
  const auto values = is_copy ? values_read_from(source, observer) : std::nullopt;
  const bool needs_no_number = is_offloaded(real, is_copy);
  if (!values && real.numel() > most_followed_elements) {
    if (current_listener != nullptr && !needs_no_number) (*current_listener)();
    return;
  }
  const double number = values || needs_no_number ? 1 : number_read_from(source, observer);
  const OnRealTensors on_real_tensors;
  if (values)
    real.copy_(*values);
  else
    real.fill_(number);
}

}  // namespace

KeptNumbersListener::KeptNumbersListener(std::function<void()> tell)
    : tell_(std::move(tell)), outer_(std::exchange(current_listener, &tell_)) {}

KeptNumbersListener::~KeptNumbersListener() { current_listener = outer_; }

void write_to_host(const c10::FunctionSchema& schema, std::span<const c10::IValue> arguments,
                   const std::shared_ptr<Observer>& observer) {
  const bool is_copy =
      std::ranges::find(copying_operators, schema.name()) != std::end(copying_operators);
  const std::vector<at::Tensor> sources = is_copy && arguments.size() > 1
                                              ? tensors_in_operand(arguments[1])
                                              : std::vector<at::Tensor>{};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
    if (alias == nullptr || !alias->isWrite()) continue;
    const std::vector<at::Tensor> written = tensors_in_operand(arguments[i]);
    for (std::size_t k = 0; k < written.size(); ++k) {
      if (!lies_on_host(written[k])) continue;
      const bool has_source = k < sources.size() && sources[k].defined();
      write(written[k], has_source ? sources[k] : written[k], has_source, observer);
    }
  }
}

}  // namespace symprof::meta
