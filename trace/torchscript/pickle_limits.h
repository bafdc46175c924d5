// Pickled data of a TorchScript archive, checked before LibTorch unpickles it.
#pragma once

#include <string>
#include <string_view>

namespace symprof::trace::torchscript {

/// Follows the stack and the memo of a pickle, without making any object. Throws Error when a value
/// is nested too deep, or when an instruction does not find what it wants: LibTorch's unpickler and
/// what it makes are not prepared for either. `where` is for the message.
void check_pickle(std::string_view bytes, const std::string& where);

}  // namespace symprof::trace::torchscript
