// What LibTorch says of an error, without its C++ stack.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/tensor_spec.h"

namespace symprof::meta {

/// The first line of the message that is not empty: the stack, and advice for Python's users, stand
/// below it.
std::string first_line(const std::exception& error);

/// Whether LibTorch refuses a call for the dtype of an operand.
bool is_about_dtypes(std::string_view message);

/// What to do about such a call; `cast_to` is the dtype that the user gave the model.
std::string dtype_advice(std::optional<DType> cast_to);

/// What LibTorch refused, at `where`. Where it means that a tensor has no storage or an operator no
/// shape kernel, the error says so and what helps; otherwise it says what LibTorch does, and
/// `advice`.
Error refusal(std::string where, const std::exception& error, std::string advice);

}  // namespace symprof::meta
