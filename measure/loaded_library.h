// A library that is there at run time or not, and its functions by their names.
#pragma once

#include <dlfcn.h>

namespace symprof::measure {

/// It stays loaded.
class LoadedLibrary {
 public:
  /// Nothing is there until one is.
  LoadedLibrary() = default;
  explicit LoadedLibrary(const char* name, int flags = RTLD_NOW | RTLD_LOCAL)
      : library_(dlopen(name, flags)) {}

  bool is_there() const { return library_ != nullptr; }

  /// Whether `function(arguments...)` is there and succeeds: CUDA's libraries answer 0 then.
  template <class... Arguments>
  bool call(const char* function, Arguments... arguments) const {
    using Function = int (*)(Arguments...);
    if (library_ == nullptr) return false;
    const auto found = reinterpret_cast<Function>(dlsym(library_, function));
    return found != nullptr && found(arguments...) == 0;
  }

 private:
  void* library_ = nullptr;
};

}  // namespace symprof::measure
