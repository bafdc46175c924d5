// Any bytes as what describes a TensorRT engine: its layers, and the times, causes, costs and
// comparison that follow from them.
#include "target.h"

#include "base/error.h"
#include "engine/causes.h"
#include "engine/compare.h"
#include "engine/costs.h"
#include "engine/ideal.h"
#include "engine/layer_time.h"
#include "engine/read.h"
#include "engine/summary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const symprof::engine::Engine engine = symprof::engine::read_engine(bytes, "engine");
  const symprof::engine::EngineSummary summary = symprof::engine::summarize(engine, nullptr);
  std::vector<symprof::engine::Cause> causes =
      symprof::engine::find_causes(engine, summary, nullptr, nullptr);
  symprof::DeviceSpec device;
  device.memory_bytes_per_second = 1e12;
  const symprof::engine::EngineCosts costs =
      symprof::engine::cost_layers(engine, summary, device, nullptr, nullptr, nullptr);
  symprof::engine::add_ideal_times(engine, summary, &device, &costs, causes);
  for (std::size_t i = 0; i < engine.layers.size(); ++i)
    symprof::engine::kernel_of(engine.layers[i], summary.layers[i], 1 << 20);
  symprof::engine::compare(engine, summary, engine, summary);
  return 0;
} catch (const symprof::Error&) {
  return 0;
}
