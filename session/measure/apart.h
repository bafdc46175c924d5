// Runs work in a child process.
#pragma once

#include <functional>
#include <string>
#include <variant>

namespace symprof {

/// The child's output, or its exit code if not 0: the child has printed the error.
using Apart = std::variant<std::string, int>;

/// Runs `work` in a forked copy of this process, which must have no other thread, and waits for it.
/// An Error thrown there is printed there, in main()'s format. Throws Error where the process
/// cannot be created or is killed.
Apart run_apart(const std::function<std::string()>& work);

}  // namespace symprof
