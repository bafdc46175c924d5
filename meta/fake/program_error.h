// Errors of a program's calls, as exceptions of the program's language.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace symprof::meta {

/// Set by the language front end: `raise` throws its exception for an error and adds the current
/// line. Applies to the whole process; without it, C++ errors are thrown.
void set_program_error(std::function<void(const Error&)> raise);

/// Throws the program's exception inside calls of a program, else `error`.
[[noreturn]] void throw_for_caller(const Error& error);

/// Throws the program's exception, for a call of this operator on the device, where a program is
/// simulated and not on this thread: a simulation records the thread on which it began.
void check_thread(const std::string& op);

}  // namespace symprof::meta
