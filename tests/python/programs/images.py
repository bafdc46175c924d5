"""Blocks of images: (batch, channels, height, width)."""
from net import Net, activation, block


@block("image", 8)
def convolution(net: Net) -> None:
    b, c, h, w = net.shape
    out, stride = net.rng.choice((4, 8, 12)), net.rng.choice((1, 1, 2)) if h >= 8 else 1
    groups = net.rng.choice((1, 1, 1, 2, c)) if c % 2 == 0 else 1
    out = out * groups if groups == c else out
    more = net.pick(("", ", bias=False"))
    net.say(f"x = {net.part(f'nn.Conv2d({c}, {out}, 3, {stride}, 1, groups={groups}{more})', 'conv')}(x)")
    net.become(b, out, (h + stride - 1) // stride, (w + stride - 1) // stride)
    net.say(f"x = {activation(net)}")


@block("image", 4)
def norm(net: Net) -> None:
    c = net.width
    kind = net.pick((f"nn.BatchNorm2d({c})", f"nn.BatchNorm2d({c}, affine=False)", f"nn.GroupNorm({2 - c % 2}, {c})",
                     f"nn.InstanceNorm2d({c})",
                     f"nn.InstanceNorm2d({c}, affine=True)"))
    net.say(f"x = {net.part(kind, 'norm')}(x)")


@block("image", 2)
def pool(net: Net) -> None:
    b, c, h, w = net.shape
    if h < 4:
        return
    net.say(net.pick(("x = F.max_pool2d(x, 2)", "x = F.avg_pool2d(x, 2)", f"x = F.adaptive_avg_pool2d(x, {h // 2})",
                      f"x = F.adaptive_max_pool2d(x, {h // 2})")))
    net.become(b, c, h // 2, w // 2)


@block("image", 2)
def enlarge(net: Net) -> None:
    b, c, h, w = net.shape
    if h > 4:
        return
    if net.chance(0.4):
        net.say(f"x = {net.part(f'nn.ConvTranspose2d({c}, {c}, 2, 2)', 'conv')}(x)")
    else:
        net.say(net.pick(("x = F.interpolate(x, scale_factor=2)",
                          "x = F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)",
                          "x = F.pixel_shuffle(x.repeat(1, 4, 1, 1), 2)")))
    net.become(b, c, 2 * h, 2 * w)


@block("image", 3)
def residual(net: Net) -> None:
    c = net.width
    middle = net.pick(("nn.ReLU()", "nn.ReLU(inplace=True)"))
    conv = net.part(f"nn.Sequential(nn.Conv2d({c}, {c}, 3, padding=1), {middle}, nn.Conv2d({c}, {c}, 1))")
    if net.chance(0.3):
        net.checkpoint(conv)
    else:
        net.say(f"x = x + {conv}(x)")


@block("image", 3)
def functions(net: Net) -> None:
    net.say(net.pick(("x = F.dropout2d(x, 0.2, self.training)", "x = F.pad(x, (1, 1, 1, 1), mode='reflect')[:, :, 1:-1, 1:-1]",
                      "x = x * x.mean((2, 3), keepdim=True).sigmoid()",
                      "x = torch.cat([x[:, :1], x[:, 1:]], 1)", "x = x.flip(3)",
                      "x = x.contiguous(memory_format=torch.channels_last)",
                      "x = F.pad(x, (1, 0, 0, 1))[..., 1:, :-1]", "x = F.local_response_norm(x, 2)", "x = x.softmax(1)",
                      f"x = F.grid_sample(x, torch.zeros({net.batch}, 4, 4, 2).to(x), align_corners=False)"
                      if net.shape[2:] == (4, 4) else "x = x + x.mean(1, keepdim=True)")))


@block("image")
def learned_slope(net: Net) -> None:
    net.say(f"x = {net.part(f'nn.PReLU({net.width})')}(x)")


@block("image", 2)
def separable(net: Net) -> None:
    c = net.width
    deep = f"nn.Conv2d({c}, {c}, 3, padding=2, dilation=2, groups={c})"
    net.say(f"x = {net.part(f'nn.Sequential({deep}, nn.Conv2d({c}, {c}, 1), nn.SiLU())')}(x)")


@block("image", 2)
def patches(net: Net) -> None:
    b, c, h, w = net.shape
    if h % 2 == 0 and net.chance(0.5):
        net.say("x = F.unfold(x, 2, stride=2).transpose(1, 2)")
        net.become(b, h // 2 * (w // 2), 4 * c)
    else:
        net.say("x = x.flatten(2).transpose(1, 2)")
        net.become(b, h * w, c)


@block("image", 3)
def as_vector(net: Net) -> None:
    b, c, h, w = net.shape
    net.say(net.pick(("x = x.mean((2, 3))", "x = x.amax((2, 3))", "x = F.adaptive_avg_pool2d(x, 1).flatten(1)")))
    net.become(b, c)
