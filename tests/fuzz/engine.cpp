// Any bytes as what describes a TensorRT engine: its layers, and the times, causes and comparison
// that follow from them.
#include "target.h"

#include "base/error.h"
#include "engine/causes.h"
#include "engine/compare.h"
#include "engine/read.h"
#include "engine/summary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const symprof::engine::Engine engine = symprof::engine::read_engine(bytes, "engine");
  const symprof::engine::EngineSummary summary = symprof::engine::summarize(engine, nullptr);
  symprof::engine::find_causes(engine, summary, nullptr, nullptr);
  symprof::engine::compare(engine, summary, engine, summary);
  return 0;
} catch (const symprof::Error&) {
  return 0;
}
