// Composite operators that read values before they make their calls.
#pragma once

namespace torch {
class Library;
}

namespace symprof::kernels {

/// Registers them where autograd takes composite operators apart.
void register_composites(torch::Library& library);

/// True inside an operator that compares values only to refuse those that make no sense (istft: is
/// the sum of the windows 0 anywhere?). A model that is profiled is taken to have no such fault.
bool looks_for_faults();

}  // namespace symprof::kernels
