#include "session/torch_library.h"

#include <dlfcn.h>

#include <string>
#include <thread>

#include "base/error.h"
#include "session/paths.h"

namespace symprof {
namespace {

[[noreturn]] void fail(const std::string& path) {
  const char* given = dlerror();
  std::string reason = given ? given : "no reason given";
  if (reason.starts_with(path + ": ")) reason.erase(0, path.size() + 2);
  throw Error(path, "cannot be loaded: " + reason + ".",
              "It comes with symprof and needs LibTorch where symprof was built against it.",
              ErrorKind::not_available);
}

const shape::Library* load() {
  const std::string path = torch_library_path();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail(path);
  const auto function =
      reinterpret_cast<shape::LibraryFunction>(dlsym(handle, shape::library_symbol));
  if (!function) fail(path);
  return function();
}

}  // namespace

// A thread of its own, not std::async: a future of that would wait in its destructor, and an
// unreadable model would be answered a quarter of a second late.
TorchLibrary::TorchLibrary() {
  std::promise<const shape::Library*> promise;
  loaded_ = promise.get_future().share();
  std::thread([promise = std::move(promise)]() mutable {
    try {
      promise.set_value(load());
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }).detach();
}

}  // namespace symprof
