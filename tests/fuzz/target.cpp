#include "target.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/graph/expression.h"
#include "trace/passes/bind_inputs.h"
#include "trace/passes/training_mode.h"

namespace symprof::fuzz {
namespace {

/// Every symbol of the inputs gets the size 2, as `--set` would give it.
std::vector<std::pair<std::string, std::int64_t>> bindings_of(const Graph& graph) {
  std::set<std::string> names;
  for (const ValueId id : graph.inputs)
    for (const Dimension& dimension : graph.values[static_cast<std::size_t>(id)].dimensions)
      if (trace::is_symbol(dimension.symbol)) names.insert(dimension.symbol);
  std::vector<std::pair<std::string, std::int64_t>> bindings;
  for (const std::string& name : names) bindings.emplace_back(name, 2);
  return bindings;
}

void bind(Graph graph, const std::vector<std::pair<std::string, std::int64_t>>& bindings) try {
  trace::bind_inputs(graph, {}, bindings);
  trace::verify(graph);
} catch (const Error&) {
  // Sizes that contradict one another.
}

}  // namespace

MemoryFile::MemoryFile(std::string_view bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written <= 0) std::abort();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  path_ = "/proc/self/fd/" + std::to_string(file_);
}

MemoryFile::~MemoryFile() { ::close(file_); }

void run_passes(const Graph& graph) {
  trace::verify(graph);
  Graph trained = graph, evaluated = graph;
  trace::set_training_mode(trained, trace::TrainingMode::train);
  trace::verify(trained);
  trace::set_training_mode(evaluated, trace::TrainingMode::eval);
  trace::verify(evaluated);
  trace::cast_floating_point(evaluated, DType::bfloat16);
  bind(trained, {});
  bind(std::move(trained), bindings_of(graph));
}

}  // namespace symprof::fuzz
