// Any bytes as a dump: read, listed, written again and exported.
#include "trace/dump/dump.h"
#include "base/error.h"
#include "report/measure/dump.h"
#include "report/measure/dump_export.h"
#include "target.h"

namespace {

using namespace symprof;

void export_as_safetensors(const std::vector<report::NamedLeaf>& leaves) try {
  report::safetensors_bytes(leaves);
} catch (const Error&) {
  // A dtype that the format lacks.
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const trace::dump::Dump dump = trace::dump::parse_dump(bytes, "dump.onnx");
  const std::vector<report::NamedLeaf> leaves = report::leaves_of(dump, "*");
  fmt::memory_buffer out;
  report::write_dump(out, dump, "dump.onnx");
  report::write_dump_json(out, dump, "dump.onnx", leaves);
  export_as_safetensors(leaves);
  trace::dump::write_dump(dump, "dump.onnx.data");
  report::npz_bytes(leaves);
  return 0;
} catch (const symprof::Error&) {
  return 0;
}
