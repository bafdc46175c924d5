// Copies of fake tensors to the host: real tensors, which the program's code may read (numpy,
// lists, metrics), with known values or assumed numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include "meta/fake/observer.h"

namespace symprof::meta {

/// A real tensor with the fake one's dtype and geometry: a copy of the known values, else filled
/// with the number that `observer` assumes for its storage. Tensors with more than
/// most_followed_elements share the memory of one element. Throws Error if no number is assumed.
/// Asynchronous copies of floating-point numbers (`is_asynchronous`: non_blocking) are treated as
/// offloaded and never read: they are filled with ones.
at::Tensor host_copy(const at::Tensor& fake, const std::shared_ptr<Observer>& observer,
                     bool is_asynchronous = false);

/// The known or assumed values of `fake`, which the program reads; `observer` is notified of
/// assumed ones.
std::optional<at::Tensor> values_read_from(const at::Tensor& fake,
                                           const std::shared_ptr<Observer>& observer);

/// The number assumed for `fake`, which the program reads. Throws Error if none is assumed.
double number_read_from(const at::Tensor& fake, const std::shared_ptr<Observer>& observer);

}  // namespace symprof::meta
