"""Embedding and its backward, gather, scatter_add, index_select, index_put with and without sums."""
import itertools

from kernels.families.common import BYTES, backward_of, operand

# rows of the table, width, indices
TABLES = [(50257, 768, 512), (50257, 768, 4096), (50257, 768, 32768), (32000, 4096, 4096),
          (32000, 4096, 16384), (128256, 4096, 8192), (1024, 768, 1024), (1000003, 64, 65536),
          (1000, 17, 333)]
EMBEDDING = ("embedding", "embedding_backward")
ROWS = ("index_select", "index_put", "index_put_accumulate", "index_add")
ELEMENTS = ("gather", "scatter_add")


def points(small):
    tables = [(11, 4, 6)] if small else TABLES
    for operation, table, dtype in itertools.product(EMBEDDING + ROWS + ELEMENTS, tables,
                                                     ("float32", "bfloat16")):
        rows, width, indices = table
        moved = (2 * indices * width + (rows * width if "backward" in operation else 0))
        yield operation, {"table": list(table), "dtype": dtype}, 0, moved * BYTES[dtype]


MORE_TABLES = [(10000, 1024, 4096), (32128, 512, 3072), (50265, 768, 10240), (151936, 896, 3072), (512, 768, 6144),
               (30522, 768, 768), (2000, 100, 50000), (100000, 256, 300), (128256, 2048, 1536), (1 << 20, 16, 1 << 20)]


def more_points(small):
    for operation, table, dtype in itertools.product(("embedding", "index_select"),
                                                     [(11, 4, 6)] if small else MORE_TABLES, ("float32", "bfloat16")):
        yield operation, {"table": list(table), "dtype": dtype}, 0, 2 * table[2] * table[1] * BYTES[dtype]


def random_indices(high, sizes, device):
    import torch
    return torch.randint(high, sizes, device=device)


def embedding(parameters, device):
    import torch
    rows, width, count = parameters["table"]
    weight = operand((rows, width), parameters["dtype"], device)
    index = random_indices(rows, (count,), device)
    return lambda: torch.nn.functional.embedding(index, weight)


def embedding_backward(parameters, device):
    import torch
    rows, width, count = parameters["table"]
    weight = operand((rows, width), parameters["dtype"], device, requires_grad=True)
    index = random_indices(rows, (count,), device)
    return backward_of(torch.nn.functional.embedding(index, weight), [weight])


def by_rows(operation):
    def build(parameters, device):
        rows, width, count = parameters["table"]
        table = operand((rows, width), parameters["dtype"], device)
        values = operand((count, width), parameters["dtype"], device)
        index = random_indices(rows, (count,), device)
        calls = {"index_select": lambda: table.index_select(0, index),
                 "index_put": lambda: table.index_put_((index,), values),
                 "index_put_accumulate": lambda: table.index_put_((index,), values, accumulate=True),
                 "index_add": lambda: table.index_add_(0, index, values)}
        return calls[operation]
    return build


def by_elements(operation):
    def build(parameters, device):
        rows, width, count = parameters["table"]
        table = operand((rows, width), parameters["dtype"], device)
        values = operand((count, width), parameters["dtype"], device)
        index = random_indices(rows, (count, width), device)
        calls = {"gather": lambda: table.gather(0, index),
                 "scatter_add": lambda: table.scatter_add_(0, index, values)}
        return calls[operation]
    return build


OPERATIONS = {"embedding": embedding, "embedding_backward": embedding_backward,
              **{name: by_rows(name) for name in ROWS},
              **{name: by_elements(name) for name in ELEMENTS}}
