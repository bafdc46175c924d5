// What LibTorch's loader is spared: it recurses over code and data, and unpacks whatever a record
// claims, so a small hostile file would end it without an exception.
#pragma once

#include <string>

namespace symprof::trace::torchscript {

/// Throws Error when records unpack to more than a model has beside its weights, when code or
/// pickled data is nested too deep, or when a pickle does not hold together. Needs no LibTorch.
void check_limits(const std::string& path);

}  // namespace symprof::trace::torchscript
