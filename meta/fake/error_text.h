// Text of LibTorch's errors, without the C++ stack.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/tensor_spec.h"

namespace symprof::meta {

/// The first nonempty line of the message: the stack, and advice for Python users, follow it.
std::string first_line(const std::exception& error);

/// True if LibTorch refuses a call for an operand's dtype.
bool is_about_dtypes(std::string_view message);

/// Advice for such a call; `cast_to` is the dtype that the user converted the model to.
std::string dtype_advice(std::optional<DType> cast_to);

/// The Error for a call refused by LibTorch at `where`. If the cause is a tensor without storage or
/// a missing shape kernel, it has a problem and advice for that; otherwise LibTorch's message and
/// `advice`.
Error refusal(std::string where, const std::exception& error, std::string advice);

}  // namespace symprof::meta
