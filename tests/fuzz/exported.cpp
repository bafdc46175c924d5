// Any bytes as a .pt2 archive; the mutator (archive_mutator.cpp) changes the JSON inside.
#include "base/error.h"
#include "target.h"
#include "trace/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const symprof::fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  symprof::fuzz::run_passes(symprof::trace::load(file.path()));
  return 0;
} catch (const symprof::Error&) {
  return 0;
}
