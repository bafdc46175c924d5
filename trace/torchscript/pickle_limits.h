// Pickled data of a TorchScript archive, checked before LibTorch unpickles it.
#pragma once

#include <string>
#include <string_view>

namespace symprof::trace::torchscript {

/// Simulates a pickle's stack and memo, without creating objects. Throws Error if a value is nested
/// too deep, or if an instruction's operands are missing: LibTorch's unpickler handles neither.
/// `where` is for the message.
void check_pickle(std::string_view bytes, const std::string& where);

}  // namespace symprof::trace::torchscript
