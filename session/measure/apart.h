// Work in a process of its own.
#pragma once

#include <functional>
#include <string>
#include <variant>

namespace symprof {

/// What the other process wrote, or its exit code where that is not 0: it has said why.
using Apart = std::variant<std::string, int>;

/// Runs `work` in a copy of this process, which must have no other thread, and waits for it. An
/// Error that is thrown there is said there, as main() says it. Throws Error where the process
/// cannot be made or is killed.
Apart run_apart(const std::function<std::string()>& work);

}  // namespace symprof
