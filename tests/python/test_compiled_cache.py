"""Compiled graphs of earlier runs (symprof/_compiled/cache.py): the same figures without Inductor, and never another step's."""
import contextlib
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import symprof  # Before torch.

import torch
from torch import nn

from symprof._compiled import cache

BATCH, WIDTH = 32, 64


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.second(torch.relu(self.first(x)))


class Net(nn.Module):
    """What is compiled is the same graph, whatever the block is called."""

    def __init__(self, name="block", returns_all=False):
        super().__init__()
        self.add_module(name, Block())
        self.name, self.returns_all = name, returns_all

    def forward(self, x):
        y = self.get_submodule(self.name)(x)
        return (y.sum(), y) if self.returns_all else y.sum()


def profile_of(model=Net, steps=2, retain=False, **settings):
    with symprof.simulate(**settings) as run:
        network = model().cuda()
        call, optimizer = torch.compile(network), torch.optim.SGD(network.parameters(), lr=0.1)
        for _ in range(steps):
            found = call(torch.randn(BATCH, WIDTH, device="cuda"))
            loss = found[0] if isinstance(found, tuple) else found
            loss.backward(retain_graph=retain)
            optimizer.step()
            optimizer.zero_grad()
    return run.profile


def kernels(profile):
    return [(node["op"], node["module"]) for node in profile.nodes if node["op"].startswith("triton::")]


@contextlib.contextmanager
def without_inductor():
    """A graph that is not in the cache runs eagerly, with a warning."""
    from torch._inductor.graph import GraphLowering

    with mock.patch.object(GraphLowering, "run", side_effect=RuntimeError("compiled anew")):
        yield


class WithCache(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}))
        self.folder = pathlib.Path(folder, "symprof", "compiled")

    def entries(self):
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def is_cached(self, *args, **kwargs):
        with without_inductor():
            return not any("compiled anew" in warning for warning in profile_of(*args, **kwargs).warnings)


class Again(WithCache):
    def test_the_same_figures(self):
        first = profile_of()
        with without_inductor():
            again = profile_of()
        self.assertTrue(kernels(first))
        self.assertEqual(*((each.totals, list(each.nodes), list(each.calls), each.warnings) for each in (first, again)))
        self.assertEqual(len(self.entries()), 1)

    def test_words_about_products_that_may_be_padded(self):
        def model():
            return nn.Sequential(nn.Linear(4096, 4095), nn.Flatten(0))

        def run():
            with symprof.simulate() as run:
                network = model().cuda()
                torch.compile(network)(torch.randn(4096, 4096, device="cuda")).sum().backward()
                run.end_step()
            return run.profile.warnings

        first = run()
        with without_inductor():
            self.assertEqual(run(), first)
        self.assertIn("4096×4096×4095", " ".join(first))

    def test_a_compiled_optimizer(self):
        def run():
            with symprof.simulate() as run:
                network = Net().cuda()
                optimizer = torch.optim.Adam(network.parameters())
                update = torch.compile(optimizer.step)
                for _ in range(3):
                    network(torch.randn(BATCH, WIDTH, device="cuda")).backward()
                    update()
                    optimizer.zero_grad()
            return run.steps, run.profile.totals, run.profile.warnings

        first = run()
        with without_inductor():
            self.assertEqual(run(), first)
        self.assertEqual(first[0], 3)


class OtherSteps(WithCache):
    """Each would take the first one's graphs if the key had not what they differ in."""

    def setUp(self):
        super().setUp()
        profile_of()

    def check(self, *args, **kwargs):
        self.assertFalse(self.is_cached(*args, **kwargs))

    def test_outputs(self):
        self.check(lambda: Net(returns_all=True))

    def test_donated_buffers(self):
        with torch._functorch.config.patch(donated_buffer=False):
            self.check()

    def test_names_of_modules(self):
        self.check(lambda: Net("other"))
        self.assertEqual({module.partition(".")[0] for _, module in kernels(profile_of(lambda: Net("other")))} - {""}, {"other"})

    def test_devices(self):
        self.check(device="a100-80g")

    def test_kernels_of_attention(self):
        self.check(attention="math")

    def test_what_is_equal(self):
        self.assertTrue(self.is_cached())


class Folder(WithCache):
    def test_graphs_that_are_kept_have_no_entry(self):
        """They hold no donated buffers, which the next step might have."""
        profile_of(retain=True)
        self.assertEqual(self.entries(), [])

    def test_no_cache_keeps_and_takes_nothing(self):
        profile_of(no_cache=True)
        self.assertFalse(self.folder.exists())
        profile_of()
        self.assertFalse(self.is_cached(no_cache=True))

    def test_size_is_bounded(self):
        with mock.patch.object(cache, "MOST_BYTES", 1):
            profile_of()
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_entries_written_first_go(self):
        profile_of()
        (first,) = self.entries()
        os.utime(first, (1, 1))
        with mock.patch.object(cache, "MOST_BYTES", first.stat().st_size * 3 // 2):
            profile_of(lambda: Net(returns_all=True))
        self.assertEqual(len(self.entries()), 1)
        self.assertFalse(first.exists())

    def test_half_written_files_are_no_entries(self):
        profile_of()
        (entry,) = self.entries()
        half = entry.with_name(".1.2.tmp")
        half.write_bytes(entry.read_bytes()[:100])
        os.utime(half, (1, 1))
        self.assertTrue(self.is_cached())
        self.assertEqual(self.entries(), [entry])

    def test_a_damaged_entry_is_compiled_anew(self):
        first = profile_of()
        (entry,) = self.entries()
        entry.write_bytes(entry.read_bytes()[:-100])
        with self.assertLogs("torch._inductor.codecache", "WARNING"):
            self.assertEqual(profile_of().totals, first.totals)

    def test_a_folder_that_others_write_in_is_not_used(self):
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o777)
        self.assertTrue(kernels(profile_of()))
        self.assertEqual(self.entries(), [])

    def test_a_folder_that_cannot_be_made(self):
        self.folder.parent.write_bytes(b"")
        self.assertTrue(kernels(profile_of()))


if __name__ == "__main__":
    unittest.main()
