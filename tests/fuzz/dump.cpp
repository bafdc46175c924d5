// Any bytes as a dump: read, listed, written again and exported.
#include "trace/dump/dump.h"
#include "base/error.h"
#include "target.h"
#include "workbench/dump/export.h"
#include "workbench/dump/text.h"

namespace {

using namespace symprof;

void export_as_safetensors(const std::vector<workbench::NamedLeaf>& leaves) try {
  workbench::safetensors_bytes(leaves);
} catch (const Error&) {
  // A dtype that the format lacks.
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const trace::dump::Dump dump = trace::dump::parse_dump(bytes, "dump.onnx");
  const std::vector<workbench::NamedLeaf> leaves = workbench::leaves_of(dump, "*");
  fmt::memory_buffer out;
  workbench::write_dump(out, dump, "dump.onnx");
  workbench::write_dump_json(out, dump, "dump.onnx", leaves);
  export_as_safetensors(leaves);
  trace::dump::write_dump(dump, "dump.onnx.data");
  workbench::npz_bytes(leaves);
  return 0;
} catch (const symprof::Error&) {
  return 0;
}
