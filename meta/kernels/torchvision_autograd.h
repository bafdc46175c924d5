// Gradients of torchvision's operators, as its autograd/ computes them: what is saved for backward,
// and which operator runs there.
#pragma once

namespace torch {
class Library;
}

namespace symprof::kernels {

void register_torchvision_autograd(torch::Library& library);

}  // namespace symprof::kernels
