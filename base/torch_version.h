// Which PyTorch the figures are of, where its releases differ.
#pragma once

#include <cstdint>

namespace symprof {

/// 13 of 2.13: the LibTorch that libsymprof_torch.so was built with. Its file beside the library
/// says so, as what needs no LibTorch is compiled once for all. Where there is none, the version
/// that the tests are run with.
std::int64_t torch_minor();

}  // namespace symprof
