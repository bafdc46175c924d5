"""Classes that programs are made with, by the trait of a network that asks for them."""

CLASSES = {
    "function": '''
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.factor = 1.5
        return x * ctx.factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(x, square)
        return square * x

    @staticmethod
    def backward(ctx, grad):
        x, square = ctx.saved_tensors
        return grad * 3 * square + 0 * x

class Project(torch.autograd.Function):
    @staticmethod
    def forward(x, w):
        return x @ w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        grad = grad.to(w.dtype)
        return (grad @ w.t()).to(x.dtype), x.to(w.dtype).t() @ grad

class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.kept = x.detach() * 2
        return x + ctx.kept

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.kept.sign()

class Pass(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.detach().round()
        ctx.save_for_backward(y)
        ctx.mark_non_differentiable(y)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad + ctx.saved_tensors[0] * 0
''',
    "symmetric": '''
class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(0, 1)
''',
    "pair": '''
class Pair(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.left, self.right = nn.Linear(width, width), nn.Linear(width, width, bias=False)

    def forward(self, x, *, scale=1.0):
        return {"left": self.left(x) * scale, "right": (self.right(x), None)}
''',
}

IMPORTS = (
    ("copy.", "import copy"),
    ("checkpoint(", "from torch.utils.checkpoint import checkpoint"),
    ("parametrize.", "from torch.nn.utils import parametrize"),
    ("sdpa_kernel", "from torch.nn.attention import SDPBackend, sdpa_kernel"),
    ("AveragedModel", "from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn"),
    ("functional_call", "from torch.func import functional_call"),
)
