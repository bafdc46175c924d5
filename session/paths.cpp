#include "session/paths.h"

#include <filesystem>

#include "base/library_folder.h"

namespace symprof {

namespace fs = std::filesystem;

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
