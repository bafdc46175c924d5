"""Compares one rank's memory and collectives with those of PyTorch's engines (truth/parallel/README.md).

    parallel.py PROGRAM [unittest arguments]
"""
import json
import sys
import unittest

import program
from program import ROOT

FOLDER = ROOT / "truth" / "parallel"
sys.path.insert(0, str(FOLDER))
import compare  # noqa: E402

SMALL = str(FOLDER / "models" / "small.pt2")
EXPERTS = str(ROOT / "tests" / "zoo" / "models" / "qwen3_moe.pt2")
OPERATORS = {"c10d::_allgather_base_": "all_gather", "c10d::_reduce_scatter_base_": "reduce_scatter",
             "c10d::allreduce_": "all_reduce", "_c10d_functional::all_reduce": "all_reduce",
             "_c10d_functional::all_gather_into_tensor": "all_gather",
             "_c10d_functional::reduce_scatter_tensor": "reduce_scatter"}
OPERATORS |= {"c10d::send": "send", "c10d::recv_": "receive"}


def records():
    return json.loads((FOLDER / "parallel_truth.json").read_text())


def folded(rows):
    """Neighbors that differ in `times` alone, as one."""
    joined = []
    for row in rows:
        if joined and joined[-1][:3] == row[:3]:
            row = (*row[:3], joined.pop()[3] + row[3])
        joined.append(row)
    return joined


class Collectives(unittest.TestCase):
    def found(self, record, rank):
        config = {"batch": record["model"]["batch"], **record["config"]}
        model = "small_wide" if config.get("model") else "small"
        options = compare.engine({**config, "rank": rank["rank"] if config["kind"] in ("fsdp", "pp") else 0})
        # The file has the batch of one of two ranks, and ranks of tensor parallelism share one.
        batch = ["--set", "batch=4"] if config["kind"] == "tp" else []
        return program.read("profile", str(FOLDER / "models" / f"{model}.pt2"), *options, *batch, "--optimizer",
                            "adamw:single")["parallel"]

    def test_every_collective_is_the_one_of_pytorch(self):
        for record in records():
            for rank in record["ranks"]:
                with self.subTest(record["config"]["name"], rank=rank["rank"]):
                    # Of a pipeline the recorder tells no phase, and groups by the ranks of the pipeline.
                    is_pipeline = record["config"]["kind"] == "pp"
                    phase_and_group = lambda row, group: () if is_pipeline else (row["phase"], row[group])
                    wanted = [(OPERATORS[row["op"]], row["in_bytes"], row["out_bytes"], row["times"],
                               *phase_and_group(row, "group")) for row in rank["collectives"]]
                    found = [(row["op"], row["input_bytes"], row["output_bytes"], row["times"],
                              *phase_and_group(row, "group_size"))
                             for row in self.found(record, rank)["collectives"]]
                    if is_pipeline:
                        found = folded(found)
                    self.assertEqual(found, wanted)

    def test_a_rank_keeps_what_it_keeps_in_pytorch(self):
        for record in records():
            for rank in record["ranks"]:
                with self.subTest(record["config"]["name"], rank=rank["rank"]):
                    found = self.found(record, rank)
                    for key in ("parameter_bytes", "gradient_bytes", "optimizer_bytes"):
                        if rank[key] is not None:
                            self.assertEqual(found[key], rank[key], key)


class Peaks(unittest.TestCase):
    KEYS = "peak_allocated_bytes", "peak_reserved_bytes"

    def pairs(self, file, optimizers):
        """By record: what symprof says, and PyTorch's CUDA build."""
        truth = json.loads((FOLDER / file).read_text())
        for record in truth["records"]:
            if record["optimizer"] not in optimizers:
                continue
            options = compare.engine(truth["configs"][record["config"]])
            totals = compare.answer(program.path, record["model"], [*options, "--optimizer", record["optimizer"]])["totals"]
            yield (f"{record['model']}/{record['config']}", [totals[key] for key in self.KEYS],
                   [record[key.removesuffix("_bytes")] for key in self.KEYS])

    def test_the_allocator_holds_as_much(self):
        for name, found, wanted in self.pairs("ranks_truth.json", ("adamw:foreach", "adamw:fused")):
            with self.subTest(name):
                self.assertEqual(found, wanted)

    def test_models_that_nothing_was_looked_up_in_are_as_docs_parallel_says(self):
        differ = {name for name, found, wanted in self.pairs("ranks_held_out.json", ("adamw:foreach",)) if found != wanted}
        self.assertEqual(differ, {"vit12/fsdp8_bf16_keep"})


class Asking(unittest.TestCase):
    def test_rows_and_totals_have_the_bytes_of_collectives(self):
        found = program.read("profile", SMALL, "--parallel", "fsdp=2")
        sent = sum(max(row["input_bytes"], row["output_bytes"]) * row["times"]
                   for row in found["parallel"]["collectives"])
        self.assertEqual(found["totals"]["comm_bytes"], sent)
        self.assertEqual(sum(node["comm_bytes"] or 0 for node in found["nodes"]), sent)
        self.assertGreater(sent, 0)

    def test_blocks_that_repeat_are_wrapped_and_the_root(self):
        found = program.read("profile", SMALL, "--parallel", "fsdp=2")
        self.assertEqual(found["parallel"]["wrapped"], ["", *(f"model.layers.{i}" for i in range(4))])

    def test_every_byte_at_the_peak_has_one_owner(self):
        for engine in ("ddp=2", "fsdp=2", "hsdp=2x2:param=bf16", "tp=2", "tp=2:sp", "fsdp=2 tp=2:sp", "pp=2:1f1b:mb=4",
                       "pp=2:interleaved:mb=4", "pp=2:gpipe:mb=4 tp=2"):
            found = program.read("profile", SMALL, "--parallel", engine, "--optimizer", "adamw")
            self.assertEqual(sum(found["memory"]["at_peak"].values()), found["totals"]["peak_allocated_bytes"])

    def test_layers_that_stay_whole_are_said(self):
        found = program.read("profile", str(FOLDER / "models" / "vit8.pt2"), "--parallel", "tp=4")
        self.assertTrue(any("16 linear layers" in warning for warning in found["warnings"]), found["warnings"])
        self.assertEqual(found["parallel"]["ranks"], 4)

    def test_decomposed_norms_work_on_tokens(self):
        found = program.read("profile", "models/llama_7b.pt2", "--parallel", "tp=4:sp")["parallel"]["collectives"]
        gathers = sum(row["times"] for row in found if row["op"] == "all_gather" and row["phase"] == "forward")
        self.assertEqual(gathers, 2 * 32 + 2)  # Two for each layer, the head's input and the logits.

    def test_the_fullest_rank_of_a_pipeline_is_found(self):
        ranks = [program.read("profile", SMALL, "--parallel", f"pp=4:1f1b:mb=8:rank={rank}", "--optimizer", "adamw")
                 for rank in range(4)]
        found = program.read("profile", SMALL, "--parallel", "pp=4:1f1b:mb=8", "--optimizer", "adamw")
        reserved = [rank["totals"]["peak_reserved_bytes"] for rank in ranks]
        self.assertEqual(found["totals"]["peak_reserved_bytes"], max(reserved))
        whole = program.read("profile", SMALL, "--optimizer", "adamw")["totals"]
        for key in ("param_bytes", "fwd_flops"):  # The whole model is on the ranks, and runs for each microbatch.
            times = 8 if key == "fwd_flops" else 1
            self.assertEqual(sum(rank["totals"][key] for rank in ranks), times * whole[key], key)

    def test_ranks_of_a_pipeline_wait_for_each_other(self):
        ranks = [program.read("profile", SMALL, "--parallel", f"pp=4:gpipe:mb=8:rank={rank}", "--time", "--device", "h100")["time"]
                 for rank in range(4)]
        whole = ranks[0]["pipeline"]
        idle = sum(rank["pipeline"]["idle_time_us"] for rank in ranks)
        self.assertAlmostEqual(whole["bubble"], idle / 4 / whole["makespan_us"], places=5)
        # Four stages and eight microbatches: 3 of 11 parts where all stages take equally long.
        self.assertGreaterEqual(whole["bubble"], 3 / 11 - 0.01)
        for rank in ranks:
            for key in ("makespan_us", "bubble", "transfer_time_us"):
                self.assertAlmostEqual(rank["pipeline"][key], whole[key], delta=1e-3)
        self.assertNotIn("pipeline", program.read("profile", SMALL, "--parallel", "fsdp=4", "--time", "--device", "h100")["time"])

    def test_experts_are_spread_over_the_ranks_of_the_data(self):
        model, layers, experts, chosen, hidden, inner = EXPERTS, 2, 32, 8, 1024, 768
        one = program.read("profile", model, "--optimizer", "adamw:single")
        tokens = 2 * 128
        for engine in ("fsdp=4 ep=4", "ddp=4 ep=4", "ep=4"):
            found = program.read("profile", model, "--parallel", engine, "--optimizer", "adamw:single")
            exchanges = [(row["op"], row["dimension"], row["phase"], row["input_bytes"], row["output_bytes"])
                         for row in found["parallel"]["collectives"] if row["dimension"] == "expert"
                         for _ in range(row["times"])]
            rows, counts = tokens * chosen * hidden * 2, experts * 4
            wanted = layers * ([("all_to_all", "expert", "forward", size, size) for size in (counts, rows, rows)])
            wanted += layers * 2 * [("all_to_all", "expert", "backward", rows, rows)]
            self.assertEqual(exchanges, wanted, engine)
            self.assertTrue(any("spread evenly" in warning for warning in found["warnings"]))
            spread = layers * experts * 3 * hidden * inner * 2  # Gate, up and down, in bf16.
            dense = one["totals"]["param_bytes"] - spread
            kept = found["parallel"]["parameter_bytes"]
            self.assertEqual(kept, spread / 4 + (dense if "ddp" in engine else dense / 4), engine)
            self.assertGreaterEqual(found["parallel"]["optimizer_bytes"], 2 * kept)  # Two moments, and steps.
            self.assertEqual(found["totals"]["fwd_flops"], one["totals"]["fwd_flops"])
            self.assertEqual(sum(found["memory"]["at_peak"].values()), found["totals"]["peak_allocated_bytes"])

    def test_experts_that_are_not_recognized_are_refused(self):
        done = program.run("profile", SMALL, "--parallel", "ep=2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no experts", done.stderr)
        done = program.run("profile", EXPERTS, "--parallel", "ep=3")
        self.assertIn("32 experts", done.stderr)

    def test_collectives_of_a_file_are_listed(self):
        # truth/parallel/export_collectives.py: 2 x 64 numbers on each of 4 ranks.
        own, four = 2 * 64 * 4, 4 * 2 * 64 * 4
        for name, wanted in (("pt2", [("all_gather", own, four), ("reduce_scatter", four, own), ("all_reduce", own, own)]),
                             ("onnx", [("all_gather", own, four), ("all_reduce", four, four), ("all_to_all", four, four)])):
            model = str(FOLDER / "models" / f"collectives.{name}")
            found = program.read("profile", model, "--mode", "inference", "--mesh", "4")
            self.assertEqual([(row["op"], row["input_bytes"], row["output_bytes"])
                              for row in found["parallel"]["collectives"]], wanted)
            self.assertEqual([row["group_size"] for row in found["parallel"]["collectives"]], [4, 4, 4])
            self.assertEqual(found["totals"]["comm_bytes"], sum(max(row[1:]) for row in wanted))

    def test_fit_asks_for_the_rank(self):
        arguments = (SMALL, "--parallel", "fsdp=2", "--optimizer", "adamw")
        self.assertEqual(program.read("fit", *arguments)["peak_reserved_bytes"],
                         program.read("profile", *arguments)["totals"]["peak_reserved_bytes"])

    def test_refusals_say_what_may_be_given(self):
        for engine in ("fsdp", "fsdp=1", "fsdp=8:reshard=3", "hsdp=8", "mpi=8", "fsdp=8:rank=8", "ddp=8:keep",
                       "fsdp=8:param=int8", "fsdp=8:", "fsdp=x", "tp=4:keep", "tp=1", "tp=64", "pp=1", "pp=8:mb=8",
                       "pp=4:1f1b:mb=2", "pp=4:zbv:mb=8", "pp=2:interleaved:mb=4 ddp=2", "ddp=2 fsdp=2", "ddp=2:view tp=2",
                       "mesh=4", "ep=1", "hsdp=2x4 ep=8", "fsdp=8 ep=4", "ep=2 tp=2", "ep=2 pp=2:mb=2", "fsdp=2:param=bf16 ep=2",
                       "ep=2:x"):
            with self.subTest(engine):
                done = program.run("profile", SMALL, "--parallel", engine)
                self.assertEqual(done.returncode, 2)
                self.assertIn("parallel", done.stderr)

    def test_what_experts_are_not_beside_is_refused_with_what_they_are(self):
        for engine, instead in (("ep=2 tp=2", "'fsdp=2 ep=2' or 'ddp=2 ep=2', or leave ep out"),
                                ("ep=2 pp=2:mb=2", "'fsdp=2 ep=2' or 'ddp=2 ep=2', or leave ep out"),
                                ("hsdp=2x4 ep=8", "'fsdp=8 ep=8' or 'ddp=8 ep=8'"), ("fsdp=8 ep=4", "'fsdp=4 ep=4' or 'ddp=4 ep=4'"),
                                ("fsdp=2:param=bf16 ep=2", "Leave param and reduce out")):
            with self.subTest(engine):
                self.assertIn(instead, " ".join(program.run("profile", SMALL, "--parallel", engine).stderr.split()))

    def test_a_mesh_has_as_many_devices_as_the_engine_has_ranks(self):
        for model, arguments in ((SMALL, ("--parallel", "tp=2", "--mesh", "4")), (SMALL, ("--mesh", "4"))):
            done = program.run("profile", model, *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--mesh", done.stderr)
        near, far = (program.read("profile", SMALL, "--parallel", "fsdp=2", "--mesh", mesh, "--time", "--device", "h100")["time"]
                     for mesh in ("2", "2x1"))
        self.assertGreater(far["communication_time_us"], near["communication_time_us"])

    def test_loss_parallel_needs_a_loss(self):
        done = program.run("profile", "models/llama_7b.pt2", "--parallel", "tp=4:loss")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cross entropy", done.stderr)


if __name__ == "__main__":
    program.main()
