// The value of a setting as a type of its own.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace symprof::settings {

/// A setting as JSON has it; std::monostate is null.
using Value =
    std::variant<std::monostate, bool, std::int64_t, std::string, std::vector<std::string>,
                 std::vector<std::pair<std::string, std::int64_t>>>;

}  // namespace symprof::settings
