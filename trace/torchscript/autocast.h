// `with torch.autocast(...):` in a script. The object's methods are no-ops there: LibTorch's
// optimizer rewrites the region (torch/csrc/jit/passes/autocast.cpp); here it becomes a region.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>

#include "trace/graph/graph.h"

namespace symprof::trace::torchscript {

/// The marker that opens the region of `object`; empty when it is another context manager. As in
/// exported files, a region for another device is one for the profiled device.
std::optional<Node> autocast_region(const c10::IValue& object);

}  // namespace symprof::trace::torchscript
