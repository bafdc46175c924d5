// Any bytes as a TorchScript archive, walked on fake tensors for a few steps; the mutator
// (archive_mutator.cpp) changes the code and the pickles inside.
#include "trace/load.h"
#include "trace/torchscript/load.h"

#include "base/error.h"
#include "target.h"

namespace {

using namespace symprof;

/// A traced model keeps the shapes of its inputs; others are given one, if it is called x.
void walk(const std::string& path, const std::vector<trace::InputOverride>& inputs) try {
  trace::TorchScriptOptions options{.inputs = inputs};
  options.most_steps = 2000;
  fuzz::run_passes(trace::load_torchscript(path, options));
} catch (const Error&) {
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  if (!trace::is_torchscript(file.path())) return 0;
  walk(file.path(), {});
  walk(file.path(), {trace::parse_input_override("x=float32[2,3,8,8]")});
  return 0;
} catch (const Error&) {
  return 0;
}
