"""torch.compile on the simulated device. PyTorch's own compiler runs (torch._dynamo, AOTAutograd, Inductor up to its
generated code), and that code runs on tensors without storage: saved tensors, allocations, reuse, frees, and kernel launches
are those of the compiler. Only Triton's kernels are not compiled: a launch is a recorded call.

`compiler` has the object that a simulation opens; `answers` the replacements in torch meanwhile; `outside` keeps the
compiler's work on its own tensors out of the recording; `graphs` are compiled functions and their code; `marks` the
scheduler's information on each kernel; `kernels` the launches.
"""
