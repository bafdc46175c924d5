// symprof profile A -- B, which is symprof compare --costs A -- B: what changed in the costs.
#pragma once

#include <string>
#include <vector>

#include "cli/profile_options.h"

namespace symprof::cli {

/// Profiles both models with the same options, and prints what changed. Throws Error for options
/// that only one model has.
int compare_costs(const ProfileText& text, const std::string& other);

/// Whether the words of the command line are those of symprof compare --costs.
bool asks_for_costs(const std::vector<char*>& words);
/// The same as words of symprof profile, whose options it has.
std::vector<char*> as_profile(const std::vector<char*>& words);

}  // namespace symprof::cli
