#include "session/torch_library.h"

#include <dlfcn.h>

#include <filesystem>
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

/// The function called `symbol` of the library at `path`.
template <class Function>
Function function_of(void* handle, const char* symbol, const std::string& path) {
  const auto function = reinterpret_cast<Function>(dlsym(handle, symbol));
  if (!function) fail(path);
  return function;
}

}  // namespace

TorchLibrary::Loaded TorchLibrary::load() {
  const std::filesystem::path path = torch_library_path();
  if (path.has_parent_path() && !std::filesystem::exists(path)) {
    throw Error(path.string(), "is not there: symprof was installed without its part for torch.",
                "It runs models; `python -c 'import symprof'` says which wheel brings it.",
                ErrorKind::not_available);
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail(path);
  return {
      .shape = function_of<shape::LibraryFunction>(handle, shape::library_symbol, path)(),
      .measure = function_of<measure::LibraryFunction>(handle, measure::library_symbol, path)()};
}

// A thread, not std::async: its future's destructor would wait, and the error for an unreadable
// model would come a quarter of a second late.
TorchLibrary::TorchLibrary() {
  std::promise<Loaded> promise;
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
