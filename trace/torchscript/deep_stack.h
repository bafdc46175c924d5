// A deep stack for LibTorch's parser, loader and destructors, which recurse over a file's contents.
#pragma once

#include <functional>

namespace symprof::trace::torchscript {

/// Runs `work` on a separate thread with a stack for the deepest recursion that check_limits
/// allows, and waits for it. Exceptions are rethrown. Only used stack pages take memory.
void run_on_deep_stack(const std::function<void()>& work);

}  // namespace symprof::trace::torchscript
