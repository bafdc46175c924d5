"""Blocks of sequences: (batch, time, features)."""
from net import Net, activation, block, linear


@block("sequence", 4)
def layer(net: Net) -> None:
    out = net.new_width()
    net.say(f"x = {linear(net, out)}(x)")
    net.become(net.batch, net.shape[1], out)
    net.say(f"x = {activation(net)}")


@block("sequence", 3)
def norm(net: Net) -> None:
    d = net.width
    if net.chance(0.8):
        net.say(f"x = {net.part(net.pick((f'nn.LayerNorm({d})', f'nn.RMSNorm({d})')), 'norm')}(x)")
    else:
        net.say(f"x = {net.part(f'nn.BatchNorm1d({d})', 'norm')}(x.transpose(1, 2)).transpose(1, 2)")


@block("sequence", 4)
def attention_module(net: Net) -> None:
    t, d = net.shape[1:]
    weights = net.chance(0.5) or not net.is_first_order
    if not weights:
        net.traits.add("sdpa")
    mask = net.pick(("", f", attn_mask=torch.full(({t}, {t}), float('-inf'), device=x.device).triu(1)"))
    attend = net.part(f"nn.MultiheadAttention({d}, 2, batch_first=True)", "attention")
    net.say(f"x = x + {attend}(x, x, x, need_weights={weights}{mask})[0]")


@block("sequence", 3)
def attention(net: Net) -> None:
    t, d = net.shape[1:]
    net.say(f"q, k, v = {linear(net, 3 * d)}(x).view({net.batch}, {t}, 3, 2, {d // 2}).permute(2, 0, 3, 1, 4)")
    causal = net.pick(("", ", is_causal=True"))
    if net.chance(0.6) or not net.is_first_order:
        net.say("with sdpa_kernel(SDPBackend.MATH):", f"    y = F.scaled_dot_product_attention(q, k, v{causal})")
    else:
        net.traits.add("sdpa")
        net.say(f"y = F.scaled_dot_product_attention(q, k, v{causal})")
    net.say("x = x + y.transpose(1, 2).flatten(2)")


@block("sequence", 3)
def attention_by_hand(net: Net) -> None:
    t, d = net.shape[1:]
    net.say(f"q, k, v = {linear(net, 3 * d)}(x).chunk(3, -1)")
    net.say(net.pick(("w = q @ k.transpose(1, 2) / 4", 'w = torch.einsum("btd,bsd->bts", q, k)',
                      f"w = torch.baddbmm(torch.zeros({net.batch}, 1, 1, device=x.device, dtype=q.dtype), q, k.mT)")))
    if net.chance(0.5):
        mask = net.buffer(f"torch.ones({t}, {t}, dtype=torch.bool).tril()")
        net.say(f'w = w.masked_fill(~{mask}, float("-inf"))')
    net.say("x = x + w.softmax(-1) @ v")


@block("sequence", 3)
def encoder_layer(net: Net) -> None:
    d = net.width
    first, kind = net.chance(0.5), net.pick(("relu", "gelu"))
    settings = f"dropout=0.0, activation='{kind}', batch_first=True, norm_first={first}"
    layer = f"nn.TransformerEncoderLayer({d}, 2, {2 * d}, {settings})"
    if net.is_first_order:
        net.traits.add("sdpa")
        net.say(f"x = {net.part(layer, 'encoder')}(x)")
    else:
        net.say("with sdpa_kernel(SDPBackend.MATH):", f"    x = {net.part(layer, 'encoder')}(x)")


@block("sequence", 3)
def recurrent(net: Net) -> None:
    d, h = net.width, net.rng.choice((4, 8))
    both = net.chance(0.3)
    kind = net.pick(("LSTM", "GRU", "RNN"))
    net.traits.add("recurrent")
    layers = net.rng.randint(1, 2)
    net.say(f"x, _ = {net.part(f'nn.{kind}({d}, {h}, {layers}, batch_first=True, bidirectional={both})', 'rnn')}(x)")
    net.become(net.batch, net.shape[1], h * (1 + both))


@block("sequence", 2)
def loop_over_time(net: Net) -> None:
    b, t, d = net.shape
    cell = net.chance(0.4)
    if cell:
        net.traits.add("recurrent")
        kind = net.pick(("GRUCell", "RNNCell"))
        step = f"h = {net.part(f'nn.{kind}({d}, {d})', 'cell')}(x[:, t], h)"
    else:
        step = f"h = torch.tanh({linear(net)}(x[:, t]) + h)"
    net.say(f"h, hs = torch.zeros({b}, {d}, device=x.device, dtype=x.dtype), []", f"for t in range({t}):", f"    {step}",
            "    hs.append(h)", "x = torch.stack(hs, 1)")


@block("sequence", 2)
def convolution(net: Net) -> None:
    d, out = net.width, net.new_width()
    more = net.pick(("", ", bias=False"))
    net.say(f"x = {net.part(f'nn.Conv1d({d}, {out}, 3, padding=1{more})', 'conv')}(x.transpose(1, 2)).transpose(1, 2)")
    net.become(net.batch, net.shape[1], out)


@block("sequence", 2)
def positions(net: Net) -> None:
    t, d = net.shape[1:]
    if net.chance(0.5):
        net.say(f"x = x + {net.part(f'nn.Parameter(torch.zeros({t}, {d}))', 'w')}")
    else:
        net.say(f"x = x + {net.part(f'nn.Embedding({t}, {d})', 'table')}(torch.arange({t}, device=x.device))")


@block("sequence", 2)
def checkpointed(net: Net) -> None:
    norm, line = net.part(f"nn.LayerNorm({net.width})"), linear(net)
    net.say("def inner(x):", f"    return F.gelu({line}({norm}(x)))")
    net.checkpoint("inner")


@block("sequence", 2)
def tokens(net: Net) -> None:
    t, d = net.shape[1:]
    net.say(net.pick(("x = torch.cat([x[:, 1:], x[:, :1]], 1)", "x = x - x.mean(1, keepdim=True)",
                      f"x = x.repeat_interleave(2, 1)[:, :{t}]", "x = F.dropout(x, 0.1, self.training)",
                      "x = x.flip(1)", "x = x.cumsum(1)", "x = x * torch.sigmoid(x.amax(1, keepdim=True))",
                      f"x = F.interpolate(x.transpose(1, 2), size={t}, mode='linear').transpose(1, 2)",
                      "x = torch.cdist(x, x).softmax(-1) @ x", "x = torch.vmap(lambda r: r - r.mean(0))(x)",
                      "x = torch.einsum('btd,btd->bt', x, x).unsqueeze(-1) + x")))


@block("sequence", 4)
def as_vector(net: Net) -> None:
    t, d = net.shape[1:]
    way = net.pick(("mean", "last", "flat", "max", "weighted"))
    if way == "weighted":
        net.say(f"a = {linear(net, 1)}(x).softmax(1)", "x = (a.transpose(1, 2) @ x).squeeze(1)")
    else:
        net.say({"mean": "x = x.mean(1)", "last": "x = x[:, -1]", "flat": "x = x.flatten(1)",
                 "max": "x = x.max(1).values"}[way])
    net.become(net.batch, t * d if way == "flat" else d)
