// Unbacked (data-dependent) sizes in kernels for tensors without data.
#pragma once

#include <cstdint>
#include <optional>

namespace symprof::kernels {

/// The size that `op` would count in its data: `known` if the values are known, else the size given
/// by the current mode's observer, or the upper bound `most` if the observer takes it. Throws Error
/// otherwise.
std::int64_t unbacked_size(const char* op, std::optional<std::int64_t> most,
                           std::optional<std::int64_t> known = std::nullopt);

}  // namespace symprof::kernels
