// The known word that a misspelt one was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symprof {

/// The candidate with the fewest edits (insert, delete, replace, swap neighbours; case is ignored),
/// or one that `word` begins. Empty when none is near enough to be worth suggesting.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// "Did you mean 'profile'?", or empty. Names all that `word` begins where they are few:
/// "'a100-40g' or 'a100-80g'".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace symprof
