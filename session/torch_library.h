// The part of the program that needs LibTorch, loaded while something else is done: LibTorch takes
// a quarter of a second to start, most of it registering its operators.
//
// Public header.
#pragma once

#include <future>

#include "measure/real/library.h"
#include "shape/library.h"

namespace symprof {

/// Begins to load when it is made. Destroying it does not wait.
class TorchLibrary {
 public:
  TorchLibrary();

  /// Waits until the library is there. Throws Error (not_available) when it cannot be loaded.
  const shape::Library& get() { return *loaded_.get().shape; }
  /// The same of what runs on real tensors.
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
