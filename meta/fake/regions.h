// `with torch.no_grad():` and `with torch.autocast(...):` as LibTorch state.
#pragma once

#include <optional>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof::meta {

/// The open regions of one run, innermost last. The destructor closes regions left open by an
/// error.
class Regions {
 public:
  Regions() = default;
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  /// Switches autograd on or off. Inference runs entirely without it: there a region may only
  /// switch it off.
  void open_grad_mode(bool enabled);
  /// Switches autocast on or off; an empty `dtype` keeps the current one.
  void open_autocast(bool enabled, std::optional<DType> dtype);
  /// Closes the innermost region.
  void close();

 private:
  struct Saved {
    bool is_autocast = false;
    bool grad_enabled = true;
    bool autocast_enabled = false;
    DType autocast_dtype = DType::float16;
  };

  std::vector<Saved> open_;
};

}  // namespace symprof::meta
