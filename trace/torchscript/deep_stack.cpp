#include "trace/torchscript/deep_stack.h"

#include <pthread.h>

#include <cstddef>
#include <exception>

#include "base/error.h"

namespace symprof::trace::torchscript {
namespace {

constexpr std::size_t stack_bytes = std::size_t{1} << 29;

struct Task {
  const std::function<void()>& work;
  std::exception_ptr error;
};

void* run(void* argument) {
  auto& task = *static_cast<Task*>(argument);
  try {
    task.work();
  } catch (...) {
    task.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_on_deep_stack(const std::function<void()>& work) {
  Task task{work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  const int code = pthread_create(&thread, &attributes, &run, &task);
  pthread_attr_destroy(&attributes);
  if (code != 0)
    throw Error("", "a thread with a stack of 512 MiB cannot be started",
                "Allow the program more address space (ulimit -v).", ErrorKind::not_available);
  pthread_join(thread, nullptr);
  if (task.error) std::rethrow_exception(task.error);
}

}  // namespace symprof::trace::torchscript
