// What a program copies to the host: real tensors, which its code reads as it likes (numpy, lists,
// metrics), with the values that are known, or with numbers that stand for them.
#pragma once

#include <ATen/core/Tensor.h>

#include "meta/fake/observer.h"

namespace symprof::meta {

/// A real tensor of the fake one's dtype and geometry: a copy of the values that are known; else
/// filled with what `observer` lets stand for a number of its storage. More than
/// most_followed_elements share the memory of one element. Throws Error where nothing stands for
/// it. Floating-point numbers that the program does not wait for (`is_asynchronous`: non_blocking)
/// are offloaded, and not read: they are ones.
at::Tensor host_copy(const at::Tensor& fake, const std::shared_ptr<Observer>& observer,
                     bool is_asynchronous = false);

/// The values of `fake`, which the program reads, where they are known or assumed; `observer` is
/// told of those that are assumed.
std::optional<at::Tensor> values_read_from(const at::Tensor& fake,
                                           const std::shared_ptr<Observer>& observer);

/// What stands for a number of `fake`, which the program reads. Throws Error where nothing does.
double number_read_from(const at::Tensor& fake, const std::shared_ptr<Observer>& observer);

}  // namespace symprof::meta
