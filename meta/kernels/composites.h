// Composite operators that read values before they make their calls.
#pragma once

namespace torch {
class Library;
}

namespace symprof::kernels {

/// Registers them at the keys where autograd decomposes composite operators.
void register_composites(torch::Library& library);

/// True inside an operator that compares values only to reject invalid ones (istft: is the window
/// sum 0 anywhere?). A profiled model is assumed valid.
bool looks_for_faults();

}  // namespace symprof::kernels
