#include "meta/fake/host_copies.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "base/given_values.h"
#include "base/values_setting.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/known_values.h"

namespace symprof::meta {

double number_read_from(const at::Tensor& fake, const std::shared_ptr<Observer>& observer) {
  const auto number =
      observer ? observer->unbacked_number(storage_id(fake), range_of(fake)) : std::nullopt;
  if (number) return *number;
  throw Error(
      "aten::item",
      "the value of a tensor decides what happens next, and a tensor without storage has "
      "no value",
      is_in_program()
          ? "Say it with " + given_values() + "."
          : "Give the values of the input that decides it with " + values_setting() +
                ", the number with " + setting("sizes") +
                " where a .pt2 file has a symbol for it (u0=8), or export the model so that it "
                "does not branch on data.");
}

namespace {

/// Reports a number of `values`, which are assumed, to the observer.
void read_assumed(const at::Tensor& fake, const at::Tensor& values,
                  const std::shared_ptr<Observer>& observer) {
  if (!observer || fake.numel() == 0) return;
  const OnRealTensors on_real_tensors;
  const double number = values.flatten()[0].item<double>();
  observer->unbacked_number(storage_id(fake), {.likely = number});
}

}  // namespace

std::optional<at::Tensor> values_read_from(const at::Tensor& fake,
                                           const std::shared_ptr<Observer>& observer) {
  const auto values = assumed_values(fake);
  if (values && !known_values(fake)) read_assumed(fake, *values, observer);
  return values;
}

at::Tensor host_copy(const at::Tensor& fake, const std::shared_ptr<Observer>& observer,
                     bool is_asynchronous) {
  const bool is_offloaded =
      is_asynchronous && fake.numel() > 1 && at::isFloatingType(fake.scalar_type());
  const auto values = is_offloaded ? known_values(fake) : values_read_from(fake, observer);
  const double number = values || is_offloaded ? 1 : number_read_from(fake, observer);
  const OnRealTensors on_real_tensors;
  if (values) return values->clone();
  const at::TensorOptions options = at::TensorOptions(fake.scalar_type()).device(at::kCPU);
  if (fake.numel() > most_followed_elements)
    return at::full({1}, number, options).expand(fake.sizes());
  return at::empty_strided(fake.sizes(), fake.strides(), options).fill_(number);
}

}  // namespace symprof::meta
