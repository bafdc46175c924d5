// A shared library that may be available at run time, with functions looked up by name.
#pragma once

#include <dlfcn.h>

namespace symprof::measure {

/// It stays loaded.
class LoadedLibrary {
 public:
  /// An empty object: no library.
  LoadedLibrary() = default;
  explicit LoadedLibrary(const char* name, int flags = RTLD_NOW | RTLD_LOCAL)
      : library_(dlopen(name, flags)) {}

  bool is_there() const { return library_ != nullptr; }

  /// True if `function(arguments...)` exists and succeeds: CUDA's libraries then return 0.
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
