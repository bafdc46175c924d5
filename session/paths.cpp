#include "session/paths.h"

#include <dlfcn.h>

#include <filesystem>

namespace symprof {
namespace {

namespace fs = std::filesystem;

/// The folder of the library with this function; empty where the loader does not know it.
fs::path library_folder() {
  Dl_info library{};
  const auto here = reinterpret_cast<const void*>(&devices_folder);
  if (dladdr(here, &library) == 0 || library.dli_fname == nullptr) return {};
  std::error_code error;
  return fs::weakly_canonical(library.dli_fname, error).parent_path();
}

}  // namespace

// An installation has its libraries in lib/ or in lib/x86_64-linux-gnu/ of its prefix.
std::string devices_folder() {
  std::error_code error;
  fs::path above = library_folder();
  for (int levels = 0; levels < 2; ++levels) {
    above = above.parent_path();
    const fs::path installed = above / "share" / "symprof" / "devices";
    if (fs::is_directory(installed, error)) return installed.string();
  }
  return SYMPROF_SOURCE_DEVICES;
}

std::string data_sheet_path() { return devices_folder() + "/time/data_sheet.json"; }

std::string torch_library_path() {
  const fs::path folder = library_folder();
  return folder.empty() ? "libsymprof_torch.so" : (folder / "libsymprof_torch.so").string();
}

}  // namespace symprof
