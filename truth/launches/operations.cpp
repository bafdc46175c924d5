#include "operations.h"

#include <cupti_driver_cbid.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "records.h"

namespace fake {
namespace {

/// Behind a function: static constructors of PyTorch's libraries may run before those of this one.
struct State {
  std::mutex mutex;
  std::size_t count = 0;  ///< Of operations.
  std::uint32_t next_correlation = 1;
  std::map<std::uint64_t, std::vector<Operation>> captures;  ///< By stream.
  std::map<std::uint64_t, std::uint64_t> busy_ns;            ///< By stream.
  std::FILE* log = nullptr;
};

State& state() {
  static State& made = *[] {
    auto* fresh = new State;
    if (const char* first = std::getenv("FAKE_FIRST_CORRELATION"))
      fresh->next_correlation = static_cast<std::uint32_t>(std::strtoul(first, nullptr, 10));
    if (const char* path = std::getenv("FAKE_LAUNCH_LOG")) fresh->log = std::fopen(path, "a");
    return fresh;
  }();
  return made;
}

/// No two of 100 003 in a row are equal, so that a time is found again in its place or not at all.
std::uint64_t made_up_ns(std::size_t index) { return 1000 + 7 * (index % 100'003); }

thread_local std::vector<const char*> open_functions;
thread_local std::uint64_t library_stream = 0;

bool is_frame(const std::string& name) {
  return name.find("::") == std::string::npos || name.rfind("autograd::", 0) == 0 ||
         name.rfind("torch::", 0) == 0;
}

/// The outermost operator that this thread is in, and whether autograd's engine runs it.
std::pair<std::string, bool> open_operator() {
  bool is_backward = false;
  for (const char* function : open_functions) {
    const std::string name = function;
    is_backward = is_backward || name.rfind("autograd::engine::evaluate_function", 0) == 0;
    if (!is_frame(name)) return {name, is_backward};
  }
  return {"-", is_backward};
}

void write(const Operation& operation) {
  if (state().log == nullptr) return;
  static constexpr const char* kinds[] = {"kernel", "copy", "set", "library"};
  const auto [op, is_backward] = open_operator();
  std::fprintf(state().log, "%u\t%s\t%llu\t%llu\t%s\t%s\t%s\n", operation.correlation,
               kinds[static_cast<int>(operation.kind)],
               static_cast<unsigned long long>(operation.duration_ns),
               static_cast<unsigned long long>(operation.stream),
               is_backward ? "backward" : "forward", op.c_str(), operation.name);
}

}  // namespace

void launch(std::vector<Operation> operations, Api api) {
  const std::uint64_t entered = cupti_now();
  std::uint32_t correlation = 0;
  {
    const std::lock_guard lock(state().mutex);
    if (state().next_correlation == 0) ++state().next_correlation;  // CUPTI's "none".
    correlation = state().next_correlation++;
    for (Operation& operation : operations) {
      operation.correlation = correlation;
      operation.duration_ns = made_up_ns(state().count++);
      state().busy_ns[operation.stream] += operation.duration_ns;
      write(operation);
    }
  }
  cupti_record(operations, api, correlation, entered);
}

void run(const Operation& operation, Api api) {
  {
    const std::lock_guard lock(state().mutex);
    const auto capture = state().captures.find(operation.stream);
    if (capture != state().captures.end()) {
      capture->second.push_back(operation);
      capture->second.back().graph_node = capture->second.size();
      return;
    }
  }
  launch({operation}, api);
}

std::uint64_t busy_ns(std::uint64_t stream) {
  const std::lock_guard lock(state().mutex);
  return state().busy_ns[stream];
}

void begin_capture(std::uint64_t stream) {
  const std::lock_guard lock(state().mutex);
  state().captures[stream];
}

bool is_capturing(std::uint64_t stream) {
  const std::lock_guard lock(state().mutex);
  return state().captures.contains(stream);
}

std::vector<Operation> end_capture(std::uint64_t stream) {
  const std::lock_guard lock(state().mutex);
  const auto node = state().captures.extract(stream);
  return node ? node.mapped() : std::vector<Operation>();
}

void write_flush() {
  const std::lock_guard lock(state().mutex);
  if (state().log == nullptr) return;
  std::fputs("flush\n", state().log);
  std::fflush(state().log);
}

void set_library_stream(const void* stream) {
  library_stream = reinterpret_cast<std::uint64_t>(stream);
}

int run_library_call(const char* name, unsigned m, unsigned n, unsigned k) {
  // As cuBLAS launches on Hopper.
  run({.kind = Operation::Kind::library, .name = name, .grid = {m, n, k}, .stream = library_stream},
      {.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, .is_driver = true});
  return 0;
}

}  // namespace fake

extern "C" {
void fake_enter(const char* name) { fake::open_functions.push_back(name); }
void fake_leave() {
  if (!fake::open_functions.empty()) fake::open_functions.pop_back();
}
}
