// LibTorch's parser, loader and destructors recurse over what a file holds.
#pragma once

#include <functional>

namespace symprof::trace::torchscript {

/// Calls `work` on a thread of its own, whose stack holds the deepest recursion that check_limits
/// lets through, and waits for it. Exceptions come out here. The stack takes as much memory as it
/// is used.
void run_on_deep_stack(const std::function<void()>& work);

}  // namespace symprof::trace::torchscript
