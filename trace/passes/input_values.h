// Values that a user gives for an input, as its data.
#pragma once

#include <memory>
#include <string_view>

#include "base/setting.h"
#include "trace/passes/given_input.h"

namespace symprof::trace {

/// Parses "80,60,40" or "@lengths.npy", the text in the braces. Throws Error, with `where`, for an
/// empty value or a file without a name.
InputValues parse_input_values(std::string_view text, const SettingRef& where);

/// `values` as they are written.
std::string to_string(const InputValues& values);

/// `values` as the data of an input of this dtype and these sizes. Throws Error, with `where`,
/// where they are more or fewer, or no numbers of that dtype, and for a file that cannot be read.
std::shared_ptr<const ConstantTensor> data_of(const InputValues& values, const TensorSpec& spec,
                                              const SettingRef& where);

}  // namespace symprof::trace
