// Writes of a program from the device into real host tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <span>

#include "meta/fake/observer.h"

namespace c10 {
struct FunctionSchema;
}

namespace symprof::meta {

/// While it lives, `tell` is called on this thread for each host tensor that keeps its old numbers
/// although the program wrote to it.
class KeptNumbersListener {
 public:
  explicit KeptNumbersListener(std::function<void()> tell);
  ~KeptNumbersListener();
  KeptNumbersListener(const KeptNumbersListener&) = delete;
  KeptNumbersListener& operator=(const KeptNumbersListener&) = delete;

 private:
  std::function<void()> tell_;
  const std::function<void()>* outer_;
};

/// Writes to the real tensors that a call on fake tensors writes, as in host_copy: known values for
/// a copy; otherwise the number that `observer` assumes. Tensors with more than
/// most_followed_elements, whose memory may not be committed, are reported to the listener instead.
void write_to_host(const c10::FunctionSchema& schema, std::span<const c10::IValue> arguments,
                   const std::shared_ptr<Observer>& observer);

}  // namespace symprof::meta
