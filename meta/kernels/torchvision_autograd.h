// Gradients of torchvision's operators, as in its autograd/: the tensors saved for backward and the
// backward operators.
#pragma once

namespace torch {
class Library;
}

namespace symprof::kernels {

void register_torchvision_autograd(torch::Library& library);

}  // namespace symprof::kernels
