#include "cli/install_paths.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/tensor_spec.h"

namespace symprof::cli {
namespace {

namespace fs = std::filesystem;

fs::path executable_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

std::string devices_folder() {
  const fs::path installed = executable_folder().parent_path() / "share" / "symprof" / "devices";
  std::error_code error;
  return fs::is_directory(installed, error) ? installed.string() : SYMPROF_SOURCE_DEVICES;
}

std::string torch_library_path() {
  Dl_info core{};
  const auto in_core = reinterpret_cast<const void*>(&parse_dtype);
  if (dladdr(in_core, &core) == 0 || !core.dli_fname) return "libsymprof_torch.so";
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(core.dli_fname, error).parent_path();
  return (folder / "libsymprof_torch.so").string();
}

}  // namespace symprof::cli
