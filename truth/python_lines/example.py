"""A file of Python with what is hard to find statements in: read, and never run.

def not_a_function():
    with torch.no_grad():
        return 'text alone'
"""
import torch


class Block(torch.nn.Module):
    scale = {"a": 1,  # a comment with a bracket (
             "b": [2, 3]}

    def __init__(self, width: int = 4):
        super().__init__()
        self.text = "it's # no comment" + 'nor "this" \'one\''
        self.linear = torch.nn.Linear(
            width,
            width,
        )

    def forward(self, x, mask=None):
        '''Strings of several lines
        x = f(x)
        '''
        x = self.linear(x) \
            .relu()
        if (mask is not None
                and mask.any()):
            x = x * mask
        with torch.no_grad():
            y = self.helper(
                x,
                mask=mask,
            )
            with torch.enable_grad(), torch.autocast("cuda", enabled=False):
                z = y.float()
            with torch.autocast("cuda"): w = z + 1
        for part in (x, y): x = x + part
        def inner(v): return v * 2

        def other(v,
                  k=(1, 2)):
            return [u
                    for u in v
                    if u is not None]
        return inner(x), other([y, """
        z)
""", w])

    @torch.no_grad()
    def helper(self, x, mask): return x if mask is None else x[mask]

    async def later(self, x):  # type: ignore[override]
	    return x  # a tab


def lone(x):
    try:
        return x[0], lambda y: y + 1
    except IndexError: pass
    finally:
        with torch.set_grad_enabled(False), \
                open("file") as file:
            x = file
    with torch.inference_mode(): return x
