#include "shape/lowering/unbacked_size.h"

#include <ATen/ATen.h>

#include "base/setting.h"
#include "base/values_setting.h"
#include "meta/fake/observer.h"

namespace symprof::lowering {

std::int64_t unbacked_size(const OnnxCall& call, std::int64_t most, const std::string& what) {
  const auto observer = meta::current_observer();
  const auto size = observer ? observer->unbacked_size(most) : std::nullopt;
  if (size) return *size;
  call.fail("data-dependent shape: " + what + " is not known before the model runs",
            "Take the upper bound with " + setting("unbacked", "max") +
                ", give the values of the input that it follows from with " + values_setting() +
                ", or export the model so that this shape follows from the shapes of its inputs.");
}

at::Tensor unknown_indices(const OnnxCall& call, at::IntArrayRef sizes) {
  return at::empty(sizes, at::device(call.device).dtype(at::kLong));
}

}  // namespace symprof::lowering
