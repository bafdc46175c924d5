// Operators that take blocks beside their outputs which no rule gives: each call of one is counted
// as incomplete. What PyTorch's CUDA build was seen to do over PyTorch's own database of operators
// (truth/temporaries/record.py --survey), and what does not run without a GPU.
#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {
namespace {

Scratch unknown(const Call&, const DeviceSpec&) { return {.is_incomplete = true}; }

constexpr ScratchRule unmodelled_rows[] = {
    // Loops of other operators, as long as sizes and numbers say.
    {"aten::_trilinear", unknown},
    {"aten::linalg_matrix_exp", unknown},
    {"torch_nn::_linear_cross_entropy_batch_chunked", unknown},
    {"torch_nn::_linear_cross_entropy_batch_chunked_no_reduction", unknown},
    // Their answer is for the host, which a profile does not have.
    {"aten::allclose", unknown},
    {"aten::equal", unknown},
    // Workspaces of cuSOLVER, cuBLAS's batched factorisations, MAGMA.
    {"aten::_linalg_det", unknown},
    {"aten::_linalg_slogdet", unknown},
    {"aten::linalg_cholesky_ex", unknown},
    {"aten::cholesky_inverse", unknown},
    {"aten::_cholesky_solve_helper", unknown},
    {"aten::linalg_qr", unknown},
    {"aten::geqrf", unknown},
    {"aten::ormqr", unknown},
    {"aten::linalg_lu_factor_ex", unknown},
    {"aten::linalg_lu", unknown},
    {"aten::linalg_lu_solve", unknown},
    {"aten::_linalg_svd", unknown},
    {"aten::_linalg_eigh", unknown},
    {"aten::linalg_eig", unknown},
    {"aten::linalg_eigvals", unknown},
    {"aten::_linalg_eigvals", unknown},
    {"aten::_linalg_solve_ex", unknown},
    {"aten::linalg_inv_ex", unknown},
    {"aten::linalg_lstsq", unknown},
    {"aten::linalg_ldl_factor_ex", unknown},
    {"aten::linalg_ldl_solve", unknown},
    {"aten::lu_unpack", unknown},
    // Workspaces of cuFFT.
    {"aten::_fft_r2c", unknown},
    {"aten::_fft_c2r", unknown},
    {"aten::_fft_c2c", unknown},
    // Of cuDNN and of kernels that only some devices have.
    {"aten::_cudnn_ctc_loss", unknown},
    {"aten::_scaled_grouped_mm", unknown},
    {"aten::_scaled_mm_v2", unknown},
};

}  // namespace

ScratchRules unmodelled_scratch() { return unmodelled_rows; }

}  // namespace symprof::profile
