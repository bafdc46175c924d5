// Checks before LibTorch's loader, which recurses over code and data, and unpacks any claimed size:
// a small hostile file would crash it without an exception.
#pragma once

#include <string>

namespace symprof::trace::torchscript {

/// Throws Error if records unpack to more than a model has besides its weights, if code or pickled
/// data is nested too deep, or if a pickle is inconsistent. Needs no LibTorch.
void check_limits(const std::string& path);

}  // namespace symprof::trace::torchscript
