#include "meta/fake/program_error.h"

#include <utility>

#include "meta/fake/fake_mode.h"

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

}  // namespace symprof::meta
