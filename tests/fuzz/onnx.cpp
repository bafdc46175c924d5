// Any bytes as an ONNX model.
#include "target.h"

#include <cstdlib>

#include "base/error.h"
#include "trace/onnx/reader.h"
#include "trace/passes/inline_regions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  symprof::Graph graph = symprof::trace::read_onnx(bytes, "model.onnx");
  symprof::trace::inline_regions(graph);
  symprof::fuzz::run_passes(graph);
  return 0;
} catch (const symprof::Error&) {
  return 0;
}
