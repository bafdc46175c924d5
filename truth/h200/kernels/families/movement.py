"""Copies: contiguous, transposed, permuted, to channels last, strided, concatenated; fills."""
import itertools

from kernels.families.common import BYTES, numel, operand

MATRICES = [(64, 64), (1024, 1024), (4096, 4096), (16384, 4096), (1001, 1003), (50257, 768)]
IMAGES = [(32, 64, 112, 112), (32, 256, 56, 56), (32, 2048, 7, 7), (64, 3, 224, 224)]
HEADS = [(32, 197, 12, 64), (8, 1024, 16, 64), (4, 4096, 32, 128), (1, 77, 12, 64)]


def points(small):
    matrices, images, heads = (([(4, 5)], [(2, 3, 4, 4)], [(2, 3, 4, 5)]) if small else
                               (MATRICES, IMAGES, HEADS))
    table = (("clone", matrices), ("transpose_copy", matrices), ("strided_copy", matrices),
             ("fill", matrices), ("cat", matrices), ("to_channels_last", images),
             ("to_contiguous", images), ("heads_permute_copy", heads))
    for (operation, shapes), dtype in itertools.product(table, ("float32", "bfloat16")):
        for sizes in shapes:
            yield (operation, {"sizes": list(sizes), "dtype": dtype}, 0,
                   2 * numel(sizes) * BYTES[dtype])


def on_operand(call):
    def build(parameters, device):
        x = operand(parameters["sizes"], parameters["dtype"], device)
        return lambda: call(x)
    return build


def to_contiguous(parameters, device):
    import torch
    x = operand(parameters["sizes"], parameters["dtype"], device)
    x = x.contiguous(memory_format=torch.channels_last)
    return lambda: x.contiguous()


def to_channels_last(parameters, device):
    import torch
    x = operand(parameters["sizes"], parameters["dtype"], device)
    return lambda: x.contiguous(memory_format=torch.channels_last)


def cat(parameters, device):
    import torch
    parts = [operand(parameters["sizes"], parameters["dtype"], device) for _ in range(2)]
    return lambda: torch.cat(parts, dim=1)


OPERATIONS = {"clone": on_operand(lambda x: x.clone()),
              "transpose_copy": on_operand(lambda x: x.t().contiguous()),
              "strided_copy": on_operand(lambda x: x[:, ::2].contiguous()),
              "fill": on_operand(lambda x: x.fill_(1.5)),
              "heads_permute_copy": on_operand(lambda x: x.transpose(1, 2).contiguous()),
              "to_contiguous": to_contiguous, "to_channels_last": to_channels_last, "cat": cat}
