// Suggests the known word that a misspelled one was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symprof {

/// The candidate with the fewest edits (insert, delete, replace, swap neighbors; case is ignored),
/// or one that begins with `word`. Empty if none is close enough.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "Did you mean 'profile'?", or empty. Lists all candidates that begin with `word` if they are
/// few: "'a100-40g' or 'a100-80g'".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace symprof
