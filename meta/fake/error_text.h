// What LibTorch says of an error, without its C++ stack.
#pragma once

#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <string>

namespace symprof::meta {

/// The first line of the message that is not empty: the stack, and advice for Python's users, stand
/// below it.
inline std::string first_line(const std::exception& error) {
  const auto* libtorch = dynamic_cast<const c10::Error*>(&error);
  const std::string text = libtorch != nullptr ? libtorch->what_without_backtrace() : error.what();
  const std::size_t begin = std::min(text.find_first_not_of('\n'), text.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace symprof::meta
