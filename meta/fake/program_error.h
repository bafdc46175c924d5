// Errors of calls that a program makes, in the program's language.
//
// Public header.
#pragma once

#include <functional>

#include "base/error.h"

namespace symprof::meta {

/// The face of a program's language says how its exceptions are thrown: `raise` throws one for an
/// error, and knows the line that runs. For the process; without it, errors stay C++'s.
void set_program_error(std::function<void(const Error&)> raise);

/// Throws the program's exception where calls of a program run, else `error`.
[[noreturn]] void throw_for_caller(const Error& error);

}  // namespace symprof::meta
