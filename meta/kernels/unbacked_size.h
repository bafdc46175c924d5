// Unbacked sizes: those that only data could tell, for kernels of tensors that have none.
#pragma once

#include <cstdint>
#include <optional>

namespace symprof::kernels {

/// The size that stands for one that `op` would count in its data: `known` where the values are,
/// else what the observer of the current mode gives, or the upper bound `most` if it takes that.
/// Throws Error when it does neither.
std::int64_t unbacked_size(const char* op, std::optional<std::int64_t> most,
                           std::optional<std::int64_t> known = std::nullopt);

}  // namespace symprof::kernels
