"""Blocks of vectors: (batch, features)."""
from net import Net, activation, block, linear


@block("vector", 8)
def layer(net: Net) -> None:
    out = net.new_width()
    net.say(f"x = {linear(net, out)}(x)")
    net.become(net.batch, out)
    net.say(f"x = {activation(net)}")


@block("vector", 4)
def norm(net: Net) -> None:
    f = net.width
    text = net.pick((f"nn.LayerNorm({f})", f"nn.BatchNorm1d({f})", f"nn.RMSNorm({f})", f"nn.GroupNorm({2 - f % 2}, {f})",
                     f"nn.LayerNorm({f}, bias=False)",
                     f"nn.LayerNorm({f}, elementwise_affine=False)", f"nn.BatchNorm1d({f}, track_running_stats=False)"))
    net.say(f"x = {net.part(text, 'norm')}(x)")


@block("vector", 3)
def dropout(net: Net) -> None:
    kind = net.pick(("nn.Dropout(0.1)", "nn.Dropout(0.5)", "nn.AlphaDropout(0.2)", "nn.Dropout(0.2, inplace=True)"))
    net.say(f"x = {net.part(kind)}(x * 1.5)")


@block("vector", 4)
def residual(net: Net) -> None:
    line = linear(net)
    net.say(net.pick((f"x = x + {line}(x)", f"x = x + torch.tanh({line}(x))", f"x = x * {line}(x).sigmoid()")))


@block("vector")
def gate(net: Net) -> None:
    out = net.new_width()
    net.say(f"a, b = {linear(net, 2 * out)}(x).chunk(2, -1)",
            net.pick(("x = a * torch.sigmoid(b)", "x = F.silu(a) * b", "x = a + b.tanh()")))
    net.become(net.batch, out)


@block("vector")
def join(net: Net) -> None:
    out, line = net.new_width(), linear(net, 8)
    net.say(net.pick((f"x = torch.cat([x, {line}(x)], -1)",
                      f"x = torch.cat((x, x.detach() * 2, {line}(x)), dim=1)[:, :{net.width + 8}]")))
    net.become(net.batch, net.width + 8)
    net.say(f"x = {linear(net, out)}(x)")
    net.become(net.batch, out)


@block("vector")
def pieces(net: Net) -> None:
    f = net.width
    net.say(net.pick((f"a, b = x.split([{f // 4}, {f - f // 4}], 1)", f"a, b = x[:, :{f // 4}], x[:, {f // 4}:]")))
    net.say(net.pick(("x = torch.cat([b.relu(), a * 2], 1)", "x = torch.cat([b, a], 1).contiguous()")))


@block("vector", 3)
def function_of_ones_own(net: Net) -> None:
    net.traits.add("function")
    # torch.func takes those alone that have setup_context.
    name = net.pick(("Scale", "Cube", "Project", "Keep", "Pass")) if net.is_first_order else "Project"
    if name == "Project":
        net.say(f"x = Project.apply(x, {net.part(f'nn.Parameter(torch.randn({net.width}, {net.width}))', 'w')})")
    else:
        net.say(f"x = {name}.apply(x)")


@block("vector", 2)
def parametrized(net: Net) -> None:
    f = net.width
    square = net.part(f"nn.Linear({f}, {f})", "linear")
    kind = net.pick(("weight_norm", "spectral_norm", "symmetric", "orthogonal"))
    if kind == "symmetric":
        net.traits.add("symmetric")
        net.init.append(f'parametrize.register_parametrization({square}, "weight", Symmetric())')
    elif kind == "orthogonal":
        net.init.append(f'nn.utils.parametrizations.orthogonal({square}, orthogonal_map="householder")')
    else:
        net.init.append(f"nn.utils.parametrizations.{kind}({square})")
    net.traits.add(kind)
    net.say(f"x = {square}(x)")


@block("vector", 2)
def tied(net: Net) -> None:
    first, second = linear(net), linear(net)
    net.init.append(f"{second}.weight = {first}.weight")
    net.say(f"x = {second}({first}(x).relu())")


@block("vector", 2)
def lists(net: Net) -> None:
    f = net.width
    if net.chance(0.5):
        many = net.part(f"nn.ModuleList([nn.Linear({f}, {f}) for _ in range({net.rng.randint(2, 3)})])")
        net.say(f"for layer in {many}:", f"    x = {net.pick(('layer(x).relu()', 'x + layer(x)', 'torch.tanh(layer(x))'))}")
    else:
        small = f"nn.Sequential(nn.Linear({f}, 8), nn.ReLU(), nn.Linear(8, {f}))"
        two = net.part(f'nn.ModuleDict({{"a": nn.Linear({f}, {f}), "b": {small}}})')
        net.say(f'x = {two}["a" if x.shape[0] > {net.rng.randint(1, 4)} else "b"](x)')


@block("vector", 2)
def products(net: Net) -> None:
    f, out = net.width, net.new_width()
    w = net.part(f"nn.Parameter(torch.randn({f}, {out}) * 0.1)", "w")
    net.say(net.pick((f'x = torch.einsum("bi,ij->bj", x, {w})', f"x = x @ {w}", f"x = torch.mm(x, {w})",
                      f"x = (x.unsqueeze(1) @ {w}).squeeze(1)",
                      f"x = torch.addmm({w}[0], x, {w}, beta=0.5)", f"x = F.linear(x, {w}.t())",
                      f"x = torch.bmm(x.unsqueeze(1), {w}.expand({net.batch}, -1, -1)).flatten(1)",
                      f"x = torch.stack([torch.mv({w}.t(), r) for r in x])")))
    net.become(net.batch, out)


@block("vector", 2)
def buffers(net: Net) -> None:
    mean = net.buffer(f"torch.zeros({net.width})")
    if net.is_transformed:
        return net.say(f"x = x - {mean}")
    net.say(*net.rng.choice((
        ("with torch.no_grad():", f"    {mean}.mul_(0.9).add_(x.mean(0), alpha=0.1)", f"x = x - {mean}"),
        ("if self.training:", f"    {mean}.copy_(x.detach().mean(0))", f"x = x + {mean} * 0.5"),
        (f"{mean} += x.detach().sum(0)", "x = x * 0.5"),
        (f"{mean} = {mean} * 0.9 + x.detach().mean(0)", "x = x * 1.5"),
    )))


@block("vector", 2)
def cut_off(net: Net) -> None:
    line = linear(net)
    net.say(*net.rng.choice((
        (f"x = x + {line}(x.detach())",),
        ("with torch.no_grad():", f"    s = {line}(x).sigmoid()", "x = x * s"),
        (f"x = x - {line}(x).detach()",),
        ("with torch.no_grad():", "    s = x.norm(dim=1, keepdim=True) + 1", "x = x / s"),
    )))


@block("vector", 4)
def checkpointed(net: Net) -> None:
    f = net.width
    inner = net.pick((f"nn.Sequential(nn.Linear({f}, {2 * f}), nn.GELU(), nn.Linear({2 * f}, {f}))",
                      f"nn.Sequential(nn.LayerNorm({f}), nn.Linear({f}, {f}), nn.Tanh())"))
    net.checkpoint(net.part(inner))


@block("vector", 2)
def other_dtype(net: Net) -> None:
    kind = net.pick(("autocast", "double", "bfloat16", "off"))
    line = linear(net) if kind != "double" else ""
    if kind == "autocast":
        net.say('with torch.autocast(x.device.type, dtype=torch.bfloat16):', f"    y = {line}(x)", "x = x + y.to(x.dtype)")
    elif kind == "off":
        net.say('with torch.autocast(x.device.type, enabled=False):', f"    x = {line}(x.to({line}.weight.dtype)).relu()")
    elif kind == "bfloat16":
        net.say(f"x = x + (x.to(torch.bfloat16) @ {line}.weight.to(torch.bfloat16)).to(x.dtype)")
    else:
        net.say("x = x + x.double().softmax(-1).to(x.dtype)")


@block("vector")
def complex_numbers(net: Net) -> None:
    net.traits.add("complex")
    net.say(*net.rng.choice((("z = torch.complex(x.float(), x.float() * 0.5)", "x = (z * z.conj()).real.to(x.dtype)"),
                             ("z = torch.fft.rfft(x.float(), dim=-1)",
                              f"x = torch.fft.irfft(z * 0.5, n={net.width}, dim=-1).to(x.dtype)"),
                             (f"z = torch.view_as_complex(x.float().reshape({net.batch}, -1, 2).contiguous())",
                              "x = torch.view_as_real(z * 1j).flatten(1).to(x.dtype)"),
                             ("z = torch.polar(x.float().abs() + 0.1, x.float())", "x = z.abs().to(x.dtype)"))))


@block("vector", 3)
def indexing(net: Net) -> None:
    f, b = net.width, net.batch
    net.say(net.pick((f"x = x[:, torch.arange({f - 1}, -1, -1, device=x.device)]",
                      f"x = x.index_select(1, torch.arange({f}, device=x.device).flip(0))",
                      "x = x.gather(1, x.argsort(1))", "x = torch.where(x > 0, x, x * 0.1)", "x = x.masked_fill(x < 0, 0.0)",
                      "x = torch.zeros_like(x).scatter_add(1, x.argsort(1), x) + x",
                      f"x = x[torch.tensor({list(range(b))[::-1]}, device=x.device)]",
                      f"x = x.take_along_dim(x.argmax(1, keepdim=True), 1).expand(-1, {f}) + x",
                      "x = torch.index_add(x, 0, torch.zeros(1, dtype=torch.int64, device=x.device), x[:1])",
                      "x = x.index_fill(1, torch.tensor([0], device=x.device), 0.5)", "x = x.sort(-1).values",
                      f"x = x.topk({f}, dim=1)[0]")))


@block("vector", 2)
def lookup(net: Net) -> None:
    more = net.pick(("", ", padding_idx=0", ", max_norm=None"))
    net.say(f"x = x + {net.part(f'nn.Embedding({net.width}, {net.width}{more})', 'table')}(x.argmax(-1))")


@block("vector", 3)
def functions(net: Net) -> None:
    f = net.width
    net.say(net.pick(("x = F.normalize(x, dim=-1)", "x = x.softmax(-1)", "x = x.log_softmax(-1)", "x = x.cumsum(1) / 4",
                      "x = x - x.logsumexp(1, keepdim=True)",
                      "x = x.roll(1, 1)", "x = x.flip(-1)", f"x = F.pad(x, (1, 1))[:, :{f}]",
                      "x = x / (x.std(1, keepdim=True) + 1)", "x = x.clamp(-1, 1)",
                      "x = torch.lerp(x, x.mean(0, keepdim=True), 0.1)", "x = torch.addcmul(x, x, x, value=0.1)",
                      "x = x - x.amax(1, keepdim=True)",
                      "x = x.prod(1, keepdim=True) + x", "x = torch.maximum(x, x.mean()) + x.var()",
                      "x = x.abs().sqrt() + x.norm()", "x = x.cumprod(1)",
                      "x = torch.logaddexp(x, x * 2)", "x = x.pow(2).add(1).reciprocal()",
                      "x = F.glu(torch.cat([x, x], -1), -1)", "x = x.nan_to_num().trunc() + x",
                      "x = torch.atan2(x, x + 2).erf()", "x = (x.t() @ x).mean(0) + x", "x = torch.outer(x[:, 0], x[0]) + x",
                      "x = x.kthvalue(2, 1, keepdim=True)[0] + x",
                      "x = x.square().mean(dim=(0, 1)) + x", "x = torch.diag_embed(x).sum(1)",
                      "x = x.tile(1, 2)[:, ::2].contiguous()", "x = torch.tril(x) + torch.triu(x)")))


@block("vector", 2)
def in_place(net: Net) -> None:
    net.say("x = x.clone()",
            net.pick(("x[:, 0] = 0", "x.mul_(0.5)", "x.add_(x.detach().mean())", "x[:, ::2] *= 2", "x[0].zero_()",
                      "x.clamp_(min=-1)", "x[:, 1] = x[:, 0] * 2",
                                       "x.masked_fill_(x.detach() > 1, 1.0)", "x.sub_(0.1).relu_()",
                                       "x[:1].copy_(x[1:2].detach())", "x.t().add_(1)",
                                       "x.index_fill_(1, torch.tensor([0], device=x.device), 0)")))


@block("vector", 2)
def views(net: Net) -> None:
    b, f = net.batch, net.width
    net.say(net.pick((f"x = x.view({b}, 2, {f // 2}).transpose(1, 2).reshape({b}, {f})",
                      f"x = x.unflatten(1, (2, {f // 2})).flip(1).flatten(1)",
                      f"x = x.t().contiguous().view({f}, {b}).t()",
                      f"x = torch.stack(x.unbind(0)).squeeze(0).reshape({b}, {f})",
                      f"x = x.as_strided(({b}, {f}), ({f}, 1)) if x.is_contiguous() else x",
                      f"x = x.unfold(1, {f // 2}, {f // 2}).sum(-1).repeat_interleave({f // 2}, 1)",
                      f"x = x.narrow(1, 0, {f // 2}).repeat(1, 2)", "x = x[None].movedim(0, 2).squeeze(-1)",
                      "x = x.expand(2, -1, -1).mean(0)")))


@block("vector")
def several_outputs(net: Net) -> None:
    net.traits.add("pair")
    net.say(f"out = {net.part(f'Pair({net.width})', 'pair')}(x, scale=0.5)", 'x = out["left"] + out["right"][0]')


@block("vector", 2)
def tensor_hook(net: Net) -> None:
    net.traits.add("tensor hook")
    net.say("if x.requires_grad:",
            net.pick(("    x.register_hook(lambda g: g * 0.5)", "    x.register_hook(lambda g: g.clamp(-1, 1))",
                      "    x.register_hook(lambda g: None)",
                                               "    x.retain_grad()", "    x.grad_fn.register_hook(lambda given, got: None)",
                                               "    x.grad_fn.register_prehook(lambda got: tuple(g * 2 for g in got))")))


@block("vector")
def as_sequence(net: Net) -> None:
    net.say(f"x = x.reshape({net.batch}, 2, {net.width // 2})")
    net.become(net.batch, 2, net.width // 2)
