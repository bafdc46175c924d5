// The part of the program that needs LibTorch, loaded in the background: LibTorch takes a quarter
// of a second to start, most of it registering its operators.
#pragma once

#include <future>

#include "measure/real/library.h"
#include "shape/library.h"

namespace symprof {

/// The constructor starts loading. The destructor does not wait.
class TorchLibrary {
 public:
  TorchLibrary();

  /// Waits until the library is loaded. Throws Error (not_available) when it cannot be.
  const shape::Library& get() { return *loaded_.get().shape; }
  /// The same for the code that runs real tensors.
  const measure::Library& measuring() { return *loaded_.get().measure; }

 private:
  struct Loaded {
    const shape::Library* shape = nullptr;
    const measure::Library* measure = nullptr;
  };
  static Loaded load();

  std::shared_future<Loaded> loaded_;
};

}  // namespace symprof
