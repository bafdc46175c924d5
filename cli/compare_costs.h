// symprof profile A -- B, which is symprof compare --costs A -- B: changes in the costs.
#pragma once

#include <string>
#include <vector>

#include "cli/profile_options.h"

namespace symprof::cli {

/// Profiles both models with the same options, and prints the changes. Throws Error for options
/// that accept only one model.
int compare_costs(const ProfileText& text, const std::string& other);

/// True if the command line is symprof compare --costs.
bool asks_for_costs(const std::vector<char*>& words);
/// The same as words of symprof profile, whose options it has.
std::vector<char*> as_profile(const std::vector<char*>& words);

}  // namespace symprof::cli
