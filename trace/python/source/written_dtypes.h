// The dtypes that a line of Python writes for the tensors that it casts and makes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof::trace {

/// The source of a dtype argument.
enum class DTypeSource {
  named,     ///< A literal: `x.float()`, `x.to(torch.float32)`.
  followed,  ///< Another tensor's: `x.to(y.dtype)`, `x.type_as(y)`, `x.to(y)`.
  unknown,   ///< The line does not show it.
};

struct WrittenDType {
  DTypeSource source = DTypeSource::unknown;
  std::optional<DType> dtype;  ///< The one that is named.
  /// The expression whose dtype is taken: "y.dtype", "y". A view into the line.
  std::string_view expression = {};
  /// The variable that is cast, "x" of `x.float()`; empty if it is not a plain name.
  std::string_view receiver = {};
};

/// The casts and device moves of a line, in the order in which Python runs them: arguments of a
/// call come before the call.
std::vector<WrittenDType> written_casts(std::string_view line);

/// The `dtype=` of the calls of `function` in a line; unknown if they have none, or not all of the
/// same kind.
WrittenDType written_dtype(std::string_view line, std::string_view function);

}  // namespace symprof::trace
