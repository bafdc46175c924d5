"""A profile asked again: other sizes, devices, formulas; its rows as Arrow."""
import io
import pathlib
import pickle
import unittest

import symprof  # Before torch.

import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BATCH, WIDTH, HIDDEN, VOCABULARY, LENGTH = 4, 64, 256, 100, 16
FLOAT = 4  # bytes
GPT2 = ROOT / "models/gpt2.pt2"


def feedforward():
    return nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, WIDTH))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids, mask=None):
        return self.head(self.embedding(ids)[mask] if mask is not None else self.embedding(ids))


class Holders(unittest.TestCase):
    def test_layers_hold_their_parameters_and_states_of_earlier_steps(self):
        profile = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH), optimizer="adamw", device="h200")
        layers = {row["name"]: row["held"] for row in profile.data["memory"]["peak_by_module"] if row["owner"] == "module"}
        self.assertEqual({row["owner"] for row in profile.data["memory"]["peak_by_module"]} & {"unknown"}, set())
        for layer in ("0", "2"):
            self.assertGreaterEqual(layers[layer]["parameters"], FLOAT * WIDTH * HIDDEN)
            self.assertGreaterEqual(layers[layer]["optimizer"], 2 * FLOAT * WIDTH * HIDDEN)


class Sizes(unittest.TestCase):
    def test_batch_is_the_first_dimension_of_inputs(self):
        profile = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH))
        larger = profile.at(batch=3 * BATCH)
        for figure in ("fwd_flops", "bwd_flops", "saved_bytes", "input_bytes"):
            self.assertEqual(larger.totals[figure], 3 * profile.totals[figure])
        self.assertEqual(larger.totals["param_bytes"], profile.totals["param_bytes"])

    def test_seq_is_the_second_of_integers(self):
        profile = symprof.profile(Words(), torch.zeros(BATCH, LENGTH, dtype=torch.int64))
        product = 2 * BATCH * WIDTH * VOCABULARY
        self.assertEqual(profile.totals["fwd_flops"], LENGTH * product)
        self.assertEqual(profile.at(seq=40).totals["fwd_flops"], 40 * product)
        self.assertEqual(profile.at(seq=40).at(batch=1).totals["fwd_flops"], 40 * product // BATCH)

    def test_names_that_are_none(self):
        profile = symprof.profile(nn.Linear(WIDTH, WIDTH), torch.randn(BATCH, WIDTH))
        for name, hint in {"seq": "there are mode, .*, launch, .*, context, eager, no_cache, batch\\.$", "batchs": "Did you mean 'batch'",
                           "optimiser": "Did you mean 'optimizer'", "parallel": "torch.export"}.items():
            with self.assertRaisesRegex(symprof.Error, f"^{name}: is no setting of a module"):
                profile.at(**{name: 3})
            with self.assertRaisesRegex(symprof.Error, hint):
                profile.at(**{name: 3})

    def test_masks_repeat_their_values(self):
        mask = torch.arange(LENGTH).expand(BATCH, LENGTH) % 2 == 0
        profile = symprof.profile(Words(), torch.zeros(BATCH, LENGTH, dtype=torch.int64), mask)
        self.assertEqual(profile.at(batch=2 * BATCH).totals["fwd_flops"], 2 * profile.totals["fwd_flops"])
        self.assertEqual(profile.totals["fwd_flops"], int(mask.sum()) * 2 * WIDTH * VOCABULARY)

    def test_settings_change_as_well(self):
        profile = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH))
        self.assertEqual(profile.at(mode="inference").totals["bwd_flops"], 0)
        self.assertGreater(profile.at(optimizer="adamw").totals["optimizer_bytes"], 0)

    def test_a_file_is_asked_again_too(self):
        profile = symprof.profile(GPT2, batch=1)
        self.assertEqual(profile.at(batch=3).totals["fwd_flops"], 3 * profile.totals["fwd_flops"])


class Fits(unittest.TestCase):
    def test_the_largest_batch_fits_and_the_next_does_not(self):
        profile = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH), optimizer="adamw")
        fit = profile.fit("t4")
        self.assertTrue(fit)
        largest = fit.largest("batch")
        self.assertTrue(profile.at(batch=largest).fit("t4"))
        self.assertFalse(profile.at(batch=largest + 1).fit("t4"))

    def test_several_devices_side_by_side(self):
        fit = symprof.profile(GPT2, batch=1).fit("t4", "h200")
        sizes = fit.largest("batch")
        self.assertEqual(list(sizes), ["t4", "h200"])
        self.assertLess(sizes["t4"], sizes["h200"])

    def test_what_does_not_fit_says_where(self):
        with symprof.simulate(device="t4") as run:
            model = feedforward().cuda()
            x = torch.empty(2**24, WIDTH, device="cuda")
            model(x).sum().backward()
        fit = run.profile.fit()
        self.assertFalse(fit)
        self.assertLess(fit.margin_bytes, 0)
        self.assertRegex(str(fit), r"refused +a request in forward at linear of 0 \(test_profiles\.py:\d+\)")

    def test_a_program_is_not_run_again(self):
        with symprof.simulate() as run:
            torch.zeros(2, device="cuda")
        for again in (lambda: run.profile.at(batch=2), lambda: run.profile.fit("t4"), lambda: run.profile.fit().largest("batch")):
            with self.assertRaisesRegex(symprof.Error, "cannot run a second time"):
                again()

    def test_dimensions_that_are_not_there_are_named(self):
        fit = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH)).fit()
        with self.assertRaisesRegex(symprof.Error, "seq: is no dimension of the inputs.\n  There is batch."):
            fit.largest("seq")


class FormulasOfModules(unittest.TestCase):
    def test_products_are_linear_in_the_batch(self):
        formulas = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH)).formulas("batch")
        text = " ".join(str(formulas).split())
        self.assertIn(f"forward, products {4 * WIDTH * HIDDEN:,}·batch", text)
        self.assertIn(f"saved {FLOAT * HIDDEN:,}·batch", text)

    def test_sizes_that_a_model_refuses_are_no_crash(self):
        class Refuses(nn.Linear):
            def forward(self, x):
                if x.shape[0] > 6:
                    raise RuntimeError("six at most")
                return super().forward(x)

        formulas = symprof.profile(Refuses(WIDTH, WIDTH), torch.randn(BATCH, WIDTH)).formulas("batch")
        self.assertIn("six at most", str(formulas))


class Forms(unittest.TestCase):
    def test_exported_programs_and_bytes_are_models(self):
        model, x = feedforward(), torch.randn(BATCH, WIDTH)
        flops = symprof.profile(model, x).totals["fwd_flops"]
        program = torch.export.export(model, (x,))
        buffer = io.BytesIO()
        torch.export.save(program, buffer)
        for given in (program, buffer.getvalue()):
            self.assertEqual(symprof.profile(given).totals["fwd_flops"], flops)

    def test_bytes_of_a_script_are_read_again_for_other_settings(self):
        buffer = io.BytesIO()
        torch.jit.save(torch.jit.trace(feedforward(), torch.randn(BATCH, WIDTH)), buffer)
        profile = symprof.profile(buffer.getvalue(), inputs=f"input=float32[{BATCH},{WIDTH}]")
        self.assertEqual(profile.at(mode="inference").totals["fwd_flops"], 4 * BATCH * WIDTH * HIDDEN)

    def test_what_is_no_model_is_one_sentence(self):
        with self.assertRaisesRegex(symprof.Error, "found int, wanted a file"):
            symprof.profile(3)


class Columns(unittest.TestCase):
    def setUp(self):
        self.profile = symprof.profile(feedforward(), torch.randn(BATCH, WIDTH))

    def test_calls_sum_to_the_totals(self):
        calls = self.profile.calls
        forward = sum(call["flops"] for call in calls if call["phase"] == "forward")
        self.assertEqual(forward, self.profile.totals["fwd_flops_all"])
        self.assertEqual([call["call"] for call in calls], sorted(call["call"] for call in calls))

    def test_the_timeline_is_held_by_categories(self):
        for point in self.profile.timeline:
            held = sum(value for name, value in point.items() if name not in ("call", "allocated", "highest"))
            self.assertEqual(held, point["allocated"])

    def test_snapshots_are_those_of_memory_viz(self):
        snapshot = pickle.loads(self.profile.memory_snapshot())
        self.assertLessEqual({"segments", "device_traces"}, set(snapshot))
        self.assertTrue(snapshot["device_traces"][0])

    def test_rows_are_arrow(self):
        try:
            import pyarrow
        except ImportError:
            self.skipTest("pyarrow is not installed")
        table = pyarrow.table(self.profile.nodes)  # By the stream that any Arrow library reads.
        self.assertEqual(table.column("fwd_flops").to_pylist(), [node["fwd_flops"] for node in self.profile.nodes])


if __name__ == "__main__":
    unittest.main()
