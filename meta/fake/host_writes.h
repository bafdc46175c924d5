// What a program writes from the device into real tensors on the host.
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

/// While it lives, `tell` is called on this thread for each tensor on the host that keeps its old
/// numbers though the program has written others to it.
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

/// Gives the real tensors that a call on fake ones has written what host_copy would give: a copy
/// has the values that are known; else they are filled with what `observer` lets stand for a
/// number. Those of more than most_followed_elements, whose memory may never have been touched,
/// are told to the listener.
void write_to_host(const c10::FunctionSchema& schema, std::span<const c10::IValue> arguments,
                   const std::shared_ptr<Observer>& observer);

}  // namespace symprof::meta
