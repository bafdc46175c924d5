// What LibTorch says of an error, without its C++ stack.
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace symprof::meta {

/// The first line of the message that is not empty: the stack, and advice for Python's users, stand
/// below it.
std::string first_line(const std::exception& error);

/// What LibTorch refused, at `where`. Where it means that a tensor has no storage or an operator no
/// shape kernel, the error says so and what helps; otherwise it says what LibTorch does, and
/// `advice`.
Error refusal(std::string where, const std::exception& error, std::string advice);

}  // namespace symprof::meta
