"""torch.compile on the simulated device. PyTorch's own compiler runs (torch._dynamo, AOTAutograd, Inductor up to the code that it
writes), and that code runs on tensors without storage: what is saved for backward, what is allocated, reused and freed, and
which kernels are launched, is the compiler's own answer. Triton's kernels alone are not compiled: a launch is a recorded call.

`compiler` has the object that a simulation opens; `answers` what stands in torch meanwhile; `outside` keeps what the compiler
does with tensors of its own out of the recording; `graphs` are compiled functions and their code; `marks` what the scheduler
knows of each kernel; `kernels` the launches.
"""
