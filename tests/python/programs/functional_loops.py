"""Loops with torch.func, and with gradients of gradients."""
from loops import Setting, indented, loop, passed, steps, zeroed


@loop("grads of grads")
def penalty(setting: Setting) -> list[str]:
    kind = setting.rng.choice(("input", "parameters", "hessian vector"))
    head = [zeroed(setting)]
    if kind == "input":
        head += ["x = x.detach().requires_grad_()", *passed(setting),
                 "(g,) = torch.autograd.grad(y.sum(), x, create_graph=True)",
                 f"loss = {setting.loss()} + (g.flatten(1).norm(dim=1) - 1).square().mean()"]
    elif kind == "parameters":
        head += [*passed(setting), f"loss = {setting.loss()}",
                 "ps = [p for p in net.parameters() if p.requires_grad]",
                 "gs = torch.autograd.grad(loss, ps, create_graph=True, allow_unused=True)",
                 "loss = loss + 0.1 * sum(g.square().sum() for g in gs if g is not None)"]
    else:
        head += [*passed(setting), f"loss = {setting.loss()}",
                 "ps = [p for p in net.parameters() if p.requires_grad]",
                 "gs = torch.autograd.grad(loss, ps, create_graph=True, allow_unused=True)",
                 "gs = [g for g in gs if g is not None and g.requires_grad]",
                 "loss = sum((g * torch.ones_like(g)).sum() for g in gs) + loss"]
    return [f"opt = {setting.optimizer()}", *steps(setting, [*head, "loss.backward()", *setting.after_backward, "opt.step()"])]


@loop("maml", 2)
def maml(setting: Setting) -> list[str]:
    setting.traits.add("functional")
    inner = ["fast = dict(net.named_parameters())", f"for j in range({setting.rng.choice((1, 2))}):",
             "    y = functional_call(net, fast, (x,))", f"    loss = {setting.loss()}",
             "    gs = torch.autograd.grad(loss, list(fast.values()), create_graph=True, allow_unused=True)",
             "    fast = {n: p if g is None else p - 0.01 * g for (n, p), g in zip(fast.items(), gs)}",
             "y = functional_call(net, fast, (x,))", f"loss = {setting.loss()}", "loss.backward()", "opt.step()"]
    return [f"opt = {setting.optimizer()}", *steps(setting, [zeroed(setting), *inner])]


@loop("func", 3)
def func(setting: Setting) -> list[str]:
    setting.traits.add("functional")
    define = ["def f(params, x):", "    y = functional_call(net, params, (x,))", f"    return {setting.loss()}"]
    head = ["opt.zero_grad()", "params = {n: p.detach() for n, p in net.named_parameters()}"]
    tail = ["for n, p in net.named_parameters():", "    p.grad = gs[n].detach()", "opt.step()"]
    # A GPU's recurrent cells have no forward AD.
    kind = setting.rng.choice(("grad", "grad_and_value", "per sample", "vjp", "grad" if setting.is_recurrent else "jvp"))
    if kind == "per sample":
        setting.traits.add("per sample")
        define = ["def f(params, x):", "    y = functional_call(net, params, (x.unsqueeze(0),))",
                  "    return y.float().square().mean()"]
        body = ["gs = torch.func.vmap(torch.func.grad(f), in_dims=(None, 0), randomness='different')(params, x)",
                "gs = {n: g.mean(0) for n, g in gs.items()}"]
    elif kind == "grad":
        body = ["gs = torch.func.grad(f)(params, x)"]
    elif kind == "grad_and_value":
        body = ["gs, loss = torch.func.grad_and_value(f)(params, x)"]
    elif kind == "vjp":
        body = ["loss, pull = torch.func.vjp(lambda params: f(params, x), params)", "(gs,) = pull(torch.ones_like(loss))"]
    else:
        body = ["ones = {n: torch.ones_like(p) for n, p in params.items()}",
                "loss, t = torch.func.jvp(lambda params: f(params, x), (params,), (ones,))",
                "gs = torch.func.grad(f)(params, x)"]
    result = ["with torch.no_grad():", *indented(passed(setting))]  # No part of the step.
    return [f"opt = {setting.optimizer()}", *define, *steps(setting, [*head, *body, *tail], after=result)]


@loop("jacobian", 2)
def jacobian(setting: Setting) -> list[str]:
    """A penalty on the Jacobian of a small head, in the loss."""
    way = setting.rng.choice(("torch.func.jacrev(head)", "torch.func.jacfwd(head)",
                              "torch.func.hessian(lambda r: head(r).square().sum())",
                              "torch.func.vmap(torch.func.jacrev(head))",
                              "torch.func.vmap(torch.func.grad(lambda r: head(r).sum()))"))
    row = "y" if "vmap" in way else "y[0]"
    made = [f"head = nn.Sequential(nn.Linear({setting.out}, 6), nn.Tanh(), nn.Linear(6, 3)).to(dev, {setting.dtype})",
            "opt = " + setting.optimizer("[*net.parameters(), *head.parameters()]")]
    body = [zeroed(setting), *passed(setting), f"loss = {setting.loss()} + {way}({row}).square().mean()", "loss.backward()",
            "opt.step()"]
    return [*made, *steps(setting, body)]
