"""What torch._dynamo traces in a simulation: the program and PyTorch, and nothing of symprof's."""
import os
import unittest

os.environ["XDG_CACHE_HOME"] = os.devnull  # No folder for graphs of earlier runs.

import symprof  # Before torch.

import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.optim.optimizer import register_optimizer_step_post_hook

HEADS, LENGTH, SIZE, BLOCK = 2, 512, 64, 128


def attends(x):
    """With a mask that is made in the compiled function, of tensors."""
    document = torch.arange(LENGTH, device="cuda") // BLOCK
    mask = create_block_mask(lambda batch, head, query, key: document[query] == document[key], None, None, LENGTH, LENGTH, device="cuda")
    return flex_attention(x * 2, x, x, block_mask=mask).sum()


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.layer = nn.Embedding(SIZE, SIZE), nn.Linear(SIZE, SIZE)

    def forward(self, tokens, targets):
        return nn.functional.cross_entropy(self.layer(self.words(tokens)).flatten(0, 1), targets.flatten())


class Tracing(unittest.TestCase):
    def test_one_graph_beside_a_step_with_a_hook(self):
        """The program's hook breaks the graph of the step; symprof's own are in none, also where fullgraph=True forbids a break."""
        hook = register_optimizer_step_post_hook(lambda *arguments: print(end=""))
        self.addCleanup(hook.remove)
        with symprof.simulate() as run:
            model = Scores().cuda()
            optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-3))
            forward, update = torch.compile(model, fullgraph=True), torch.compile(optimizer.step)
            for _ in range(3):
                tokens = torch.randint(SIZE, (4, 9)).cuda()
                with torch.autocast("cuda", torch.bfloat16):
                    loss = forward(tokens[:, :-1], tokens[:, 1:])
                loss.backward()
                update()
                optimizer.zero_grad(set_to_none=True)
        self.assertEqual(run.steps, 3)
        updates = [call["op"] for call in run.profile.calls if call["phase"] == "optimizer"]
        self.assertEqual({op.split("_")[0] for op in updates if "empty" not in op and "view" not in op}, {"triton::triton"})

    def test_a_mask_made_in_the_graph(self):
        """Its blocks are the graph's own tensors, whose values are not known."""
        with symprof.simulate() as run, torch._dynamo.config.patch(suppress_errors=False):
            x = torch.randn((1, HEADS, LENGTH, SIZE), device="cuda", requires_grad=True)
            call = torch.compile(attends, fullgraph=True)
            for _ in range(2):
                call(x).backward()
                run.end_step()
        templates = [call["flops"] for call in run.profile.calls if call["op"].startswith("triton::triton_tem_")]
        self.assertEqual(templates, [2 * products * HEADS * LENGTH**2 * SIZE for products in (2, 5)])
        self.assertTrue(any("block mask's values are not known" in text for text in run.profile.warnings))


if __name__ == "__main__":
    unittest.main()
