// What a line of Python says about the dtypes of the tensors that it casts and makes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/tensor_spec.h"

namespace symprof::trace {

/// Whose word a dtype is.
enum class DTypeSource {
  named,     ///< The code names it: `x.float()`, `x.to(torch.float32)`.
  followed,  ///< That of something else: `x.to(y.dtype)`, `x.type_as(y)`, `x.to(y)`.
  unknown,   ///< The line does not show it.
};

struct WrittenDType {
  DTypeSource source = DTypeSource::unknown;
  std::optional<DType> dtype;        ///< The one that is named.
  std::string_view expression = {};  ///< What is followed: "y.dtype", "y". A view into the line.
  std::string_view receiver = {};    ///< "x" of `x.float()`, where what is cast is a plain name.
};

/// The casts of a line, and moves to a device, in the order in which Python runs them: what stands
/// in the arguments of a call comes before it.
std::vector<WrittenDType> written_casts(std::string_view line);

/// What the calls of `function` in a line are given as `dtype=`; unknown where they are given none,
/// or not all the same kind.
WrittenDType written_dtype(std::string_view line, std::string_view function);

}  // namespace symprof::trace
