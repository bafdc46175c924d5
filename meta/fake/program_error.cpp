#include "meta/fake/program_error.h"

#include <utility>

#include "meta/fake/beside_cuda.h"
#include "meta/fake/current_mode.h"

namespace symprof::meta {
namespace {

std::function<void(const Error&)>& raise_in_program() {
  static auto* raise = new std::function<void(const Error&)>;  // Called until process exit.
  return *raise;
}

}  // namespace

void set_program_error(std::function<void(const Error&)> raise) {
  raise_in_program() = std::move(raise);
}

void throw_for_caller(const Error& error) {
  if (is_in_program() && raise_in_program()) raise_in_program()(error);
  throw error;
}

void check_thread(const std::string& op) {
  if (!is_program_open() || current_attention_policy() != nullptr) return;
  const Error error(op, "uses the simulated device on a thread that the program started",
                    "Use the device on the thread that trains alone.");
  if (raise_in_program()) raise_in_program()(error);
  throw error;
}

}  // namespace symprof::meta
