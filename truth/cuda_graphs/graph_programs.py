"""Programs with CUDA graphs of their own, as PyTorch's documentation has them (notes on CUDA semantics). Each calls `note(label)` at
the points whose memory is compared."""
import torch
from torch import nn

N, D_IN, HIDDEN, D_OUT = 640, 4096, 2048, 1024
WARM_UP = 3


def warm_up(step):
    """On a side stream, as PyTorch asks for before a capture."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            step()
    torch.cuda.current_stream().wait_stream(side)


def replay(graph, static, batches=3):
    for _ in range(batches):
        for tensor in static:
            tensor.copy_(torch.randn_like(tensor))
        graph.replay()


def whole_step(note, *, make_optimizer=lambda parameters: torch.optim.SGD(parameters, lr=0.1), autocast=False, dropout=True):
    drop = nn.Dropout if dropout else nn.Identity
    model = nn.Sequential(nn.Linear(D_IN, HIDDEN), drop(p=0.2), nn.Linear(HIDDEN, D_OUT), drop(p=0.1)).cuda()
    loss_fn, optimizer = nn.MSELoss(), make_optimizer(model.parameters())
    given, target = torch.randn(N, D_IN, device="cuda"), torch.randn(N, D_OUT, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        train()

    def train():
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=autocast, cache_enabled=False):
            predicted = model(given)
            loss = loss_fn(predicted, target)
        loss.backward()
        optimizer.step()
        return loss

    warm_up(step)
    note("warm")
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = train()
    note("captured", graph)
    replay(graph, (given, target))
    note("replayed", graph)
    del loss, graph
    optimizer.zero_grad(set_to_none=True)
    note("dropped")
    torch.cuda.empty_cache()
    note("emptied")


def no_dropout(note):
    whole_step(note, dropout=False)


def adamw(note):
    whole_step(note, make_optimizer=lambda parameters: torch.optim.AdamW(parameters, lr=1e-3, capturable=True))


def fused(note):
    whole_step(note, make_optimizer=lambda parameters: torch.optim.AdamW(parameters, lr=1e-3, fused=True, capturable=True))


def autocast(note):
    whole_step(note, autocast=True)


def graphed_callables(note):
    """Partial-network capture: make_graphed_callables for each of three modules."""
    first, second, third = (nn.Linear(*sizes).cuda() for sizes in ((D_IN, HIDDEN), (HIDDEN, D_OUT), (HIDDEN, D_OUT)))
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD([*first.parameters(), *second.parameters(), *third.parameters()], lr=0.1)
    x, h = torch.randn(N, D_IN, device="cuda"), torch.randn(N, HIDDEN, device="cuda", requires_grad=True)
    note("warm")
    first = torch.cuda.make_graphed_callables(first, (x,))
    second = torch.cuda.make_graphed_callables(second, (h,))
    third = torch.cuda.make_graphed_callables(third, (h,))
    note("captured")
    for number in range(3):
        given, target = torch.randn(N, D_IN, device="cuda"), torch.randn(N, D_OUT, device="cuda")
        optimizer.zero_grad(set_to_none=True)
        between = first(given)
        loss = loss_fn(second(between) if number % 2 else third(between), target)
        loss.backward()
        optimizer.step()
    note("replayed")


class Layer(nn.Module):
    def __init__(self, width=512, heads=8):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)


def graphed_layers(note):
    """Several modules in one call, which share a pool."""
    layers = [Layer().cuda().bfloat16() for _ in range(3)]
    head = nn.Linear(512, 1000).cuda().bfloat16()
    optimizer = torch.optim.AdamW([p for part in (*layers, head) for p in part.parameters()], lr=1e-3, foreach=True)
    sample = [torch.randn(4, 256, 512, device="cuda", dtype=torch.bfloat16, requires_grad=i > 0) for i in range(3)]
    note("warm")
    layers = torch.cuda.make_graphed_callables(tuple(layers), tuple((x,) for x in sample))
    note("captured")
    for _ in range(3):
        x = torch.randn(4, 256, 512, device="cuda", dtype=torch.bfloat16)
        for layer in layers:
            x = layer(x)
        loss = nn.functional.cross_entropy(head(x).view(-1, 1000).float(), torch.zeros(1024, dtype=torch.long, device="cuda"))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    note("replayed")


def inference(note):
    """Graphs of several batch sizes in one pool, the largest first, as servers capture them."""
    model = nn.Sequential(*(Layer() for _ in range(2))).cuda().bfloat16().eval()
    pool, graphs = torch.cuda.graph_pool_handle(), {}
    with torch.no_grad():
        for batch in (16, 8, 4):
            given = torch.zeros(batch, 128, 512, device="cuda", dtype=torch.bfloat16)
            warm_up(lambda given=given: model(given))
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                made = model(given)
            graphs[batch] = graph, given, made
            note(f"captured {batch}", graph)
    for graph, given, _ in graphs.values():
        replay(graph, (given,))
    note("replayed", graph)


def own_pools(note):
    """Two graphs, each with its own pool; the first is reset."""
    model = nn.Sequential(nn.Linear(D_IN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, D_OUT)).cuda()
    given = torch.randn(N, D_IN, device="cuda")
    with torch.no_grad():
        warm_up(lambda: model(given))
        first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(first):
            made = model(given)
        note("captured first", first)
        with torch.cuda.graph(second):
            other = model(given) + made
        note("captured second", second)
        first.replay()
        second.replay()
        note("replayed", second)
        first.reset()
        del made
        torch.cuda.empty_cache()
        note("reset first", second)
        del other


PROGRAMS = {function.__name__: function for function in (whole_step, no_dropout, adamw, fused, autocast, graphed_callables,
                                                         graphed_layers, inference, own_pools)}
