#include "base/library_folder.h"

#include <dlfcn.h>

namespace symprof {

std::filesystem::path library_folder() {
  Dl_info library{};
  const auto here = reinterpret_cast<const void*>(&library_folder);
  if (dladdr(here, &library) == 0 || library.dli_fname == nullptr) return {};
  std::error_code error;
  return std::filesystem::weakly_canonical(library.dli_fname, error).parent_path();
}

}  // namespace symprof
