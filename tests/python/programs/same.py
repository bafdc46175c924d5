"""Which figures must be equal, and where those of a CPU and of a GPU differ by PyTorch's own choice."""
from collections import Counter

from figures import Figures

# Operators that PyTorch takes on one side alone, and why. They are left out of the comparison of calls.
NOT_ALIKE = {
    "aten::detach": "a view, which the hooks of saved tensors make of each tensor that they get",
    "aten::set": "a view of a storage; copying one, C++ makes two and symprof one",
    "aten::lift_fresh": "of a tensor that torch.tensor() makes on the host",
    "aten::_local_scalar_dense": "a number that is known is read from no device",
    "profiler::_record_function_enter_new": "marks of Optimizer.step for a profiler",
    "profiler::_record_function_exit": "marks of Optimizer.step for a profiler",
}
# The same work under another name. Under a mode of the dispatcher autograd takes no operators in place
# (areAnyTensorSubclassLike in ATen/TensorSubclassLikeUtils.h): in place and out of place count as one as well.
ALIKE = {"aten::_reshape_alias": "aten::view", "aten::new_zeros": "aten::zeros", "aten::new_empty": "aten::empty",
         "aten::_index_put_impl": "aten::index_put"}
# What in a program's text makes PyTorch take other operators on a GPU, and which figures differ by it.
OTHER_OPERATORS = {
    "nn.GRU": ("saved", "calls"),  # _thnn_fused_gru_cell (ATen/native/RNN.cpp).
    "nn.LSTM": ("saved", "calls"),
    "nn.RNN(": ("saved", "calls"),  # A CPU multiplies all inputs at once (`pre_compute_input` in ATen/native/RNN.cpp).
    "nn.RMSNorm": ("saved", "calls"),  # A GPU alone has a kernel for it; elsewhere it is made of others (_fused_rms_norm).
    # Its formula makes a stack of results where PyTorch sees a mode of the dispatcher (householder_product_backward).
    'orthogonal_map="householder"': ("calls",),
    "BatchNorm": ("saved", "calls"),  # cudnn_batch_norm, with its reserve.
    "InstanceNorm": ("saved", "calls"),
    "torch.autocast(dev": ("saved", "calls", "results"),  # Its lists of operators are not those of CUDA (ATen/autocast_mode.h).
    "torch.autocast(x.device": ("saved", "calls", "results"),
    "channels_last": ("saved", "calls"),  # Norms on a GPU make their inputs contiguous.
    "torch.optim.ASGD": ("calls",),  # It asks whether its states are on the CPU.
    "AveragedModel(": ("calls",),  # It counts its updates on the host.
    "torch.tensor(": ("calls",),  # A copy from the host.
    ").to(x)": ("calls",),  # The same, of a tensor that is made there.
}
# Operators that a GPU's side makes more of, where all these are in the text.
MORE_CALLS = {
    # _convolution_double_backward makes its operands contiguous on a GPU alone (ATen/native/Convolution.cpp).
    ("nn.Conv", "create_graph=True"): ("aten::clone",),
}
# NAdam's product of momenta is on the host, until load_state_dict brings all but the number of steps to the parameter's device.
LOADED = ("torch.optim.NAdam(", "load_state_dict(opt.state_dict())")
OF_CUDNN = ("BatchNorm", "InstanceNorm")  # Alike where cuDNN is switched off.
ATTENTION = ("need_weights=False", "nn.TransformerEncoderLayer(", "F.scaled_dot_product_attention(")


def first_difference(right: Figures, found: Figures, text: str) -> str:
    """A phrase, or nothing where all is equal."""
    leave_out = left_out(text)
    for name in ("forward", "backward", "states", "results", "saved", "others"):
        one, other = getattr(right, name), getattr(found, name)
        if one != other and name not in leave_out:
            return f"{name}: found {other} where PyTorch has {one}"
    return "" if "calls" in leave_out else _calls(right.calls, found.calls, text)


def left_out(text: str) -> set[str]:
    """Figures that are not compared."""
    found = {"states", "calls"} if all(sign in text for sign in LOADED) else set()
    found |= {figure for sign, figures in OTHER_OPERATORS.items() if sign in text for figure in figures
             if sign not in OF_CUDNN or "cudnn.enabled = False" not in text}
    # Fused attention has other kernels on a GPU, which save other tensors.
    by_products = text.count("sdpa_kernel(SDPBackend.MATH)") if "enable_flash_sdp(False)" not in text else len(text)
    return found | ({"saved", "calls"} if sum(map(text.count, ATTENTION)) > by_products else set())


def _by_work(calls: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for op, count in calls.items():
        if op.removesuffix("_") not in NOT_ALIKE:
            found[ALIKE.get(op.removesuffix("_"), op.removesuffix("_"))] += count
    return found


def _calls(right: Counter[str], found: Counter[str], text: str) -> str:
    one, other = _by_work(right), _by_work(found)
    for signs, ops in MORE_CALLS.items():
        if all(sign in text for sign in signs):
            one.update({op: max(other[op] - one[op], 0) for op in ops})
    for op in sorted(set(one) | set(other)):
        if one[op] != other[op]:
            return f"calls of {op}: found {other[op]} where PyTorch has {one[op]}"
    return ""
