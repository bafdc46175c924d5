"""Asks `symprof fit` as a user would.

    fit.py PROGRAM [unittest arguments]
"""
import json
import re
import shlex
import tempfile
import unittest

import program
from program import DYNAMIC, GPT2, ROOT, TINY, VIT

NARROW_DECODER = "truth/plans/models/narrow_decoder.pt2"  # Most of its memory is the inputs of its layers.
MANY_SMALL_BLOCKS = "tests/zoo/models/mobilenet_v3_large.pt2"  # Segments that grow hold them in less, where nothing is taken up front.
NOTHING_UP_FRONT = "max_split_size_mb:200"  # The allocator would give it back.


def fit(*arguments):
    return program.run("fit", *arguments)


def answer(*arguments, code=0):
    return program.read("fit", *arguments, code=code)


def shipped_gpus():
    devices = [json.loads(path.read_text()) for path in (ROOT / "devices").glob("*.json")]
    return {device["name"] for device in devices if not device.get("is_cpu")}


def budgets_of(*arguments):
    """Of `plan checkpoint`, whether or not each has a plan."""
    result = program.run("plan", "checkpoint", *arguments, "--format", "json")
    assert result.returncode in (0, 1), result.stderr
    return json.loads(result.stdout)["budgets"]


def start_of(planned):
    """How a loop starts that has what the plan is of: options of `symprof profile`."""
    up_front = "+".join(str(one >> 20) for one in planned["up_front_segments"])
    return [*(["--alloc-conf", f"reserve_up_front_mb:{up_front}"] if up_front else []), *(["--warm-start"] if planned["warm_start"] else [])]


class Fit(unittest.TestCase):
    def test_yes_with_the_margin(self):
        found = answer(GPT2, "--optimizer", "adamw", "--context", "600MiB")
        self.assertEqual(found["schema"], "symprof.fit/1")
        self.assertTrue(found["fits"])
        device = found["device"]
        self.assertEqual(device["context_bytes"], 600 * 2**20)
        self.assertEqual(found["margin_bytes"], device["memory_bytes"] - device["context_bytes"] -
                         found["peak_reserved_bytes"])
        self.assertEqual(sum(found["memory"]["at_peak"].values()), found["peak_allocated_bytes"])
        self.assertEqual(found["changes"], [])

    def test_the_figures_are_those_of_profile(self):
        totals = program.read("profile", GPT2)["totals"]
        found = answer(GPT2)
        for key in ["peak_allocated_bytes", "peak_reserved_bytes", "peak_at"]:
            self.assertEqual(found[key], totals[key], key)

    def test_every_byte_at_the_peak_has_one_owner(self):
        for arguments in [["--optimizer", "adamw"], ["--mode", "inference"],
                          ["--optimizer", "sgd_momentum", "--micro-batches", "3"]]:
            memory = answer(GPT2, *arguments)["memory"]
            sums = dict.fromkeys(memory["at_peak"], 0)
            for row in memory["peak_by_module"]:
                self.assertEqual(sum(row["held"].values()), row["bytes"])
                for category, held in row["held"].items():
                    sums[category] += held
            self.assertEqual(sums, memory["at_peak"], arguments)
            owners = [(row["owner"], row["name"]) for row in memory["peak_by_module"]]
            self.assertEqual(len(owners), len(set(owners)))

    def test_a_module_holds_gradient_and_states_with_each_parameter(self):
        rows = answer(GPT2, "--optimizer", "adamw:single")["memory"]["peak_by_module"]
        held = {row["name"]: row["held"] for row in rows if row["owner"] == "module"}
        # The tied embedding: its first user has it. AdamW keeps two states.
        embedding = held["model.transformer.wte"]
        self.assertEqual(embedding["optimizer"], 2 * embedding["parameters"])
        self.assertNotIn("parameters", held["model.lm_head"])

    def test_several_devices_side_by_side(self):
        names = ["h200", "t4"]
        found = answer(GPT2, "--optimizer", "adamw", "--device", ",".join(names))
        self.assertEqual([entry["device"]["name"] for entry in found["devices"]], names)
        for name, entry in zip(names, found["devices"]):
            alone = answer(GPT2, "--optimizer", "adamw", "--device", name)
            self.assertEqual(entry, {key: alone[key] for key in entry})
            self.assertEqual(alone["devices"], [entry])
        for key, value in found["devices"][0].items():
            self.assertEqual(found[key], value)  # Beside the array stands the first.

    def test_the_exit_code_is_no_where_one_device_says_no(self):
        found = answer("models/llama_7b.pt2", "--optimizer", "adamw", "--device", "h200,t4", code=1)
        self.assertEqual([entry["fits"] for entry in found["devices"]], [True, False])
        text = fit("models/llama_7b.pt2", "--optimizer", "adamw", "--device", "t4,h200")
        self.assertEqual(text.returncode, 1)
        self.assertIn("fits into 1 of 2 devices", text.stdout)

    def test_several_devices_say_whose_the_peak_is(self):
        names = "a100-80g,h100,t4"
        devices = answer(GPT2, "--optimizer", "adamw", "--device", names)["devices"]
        lines = fit(GPT2, "--optimizer", "adamw", "--device", names).stdout.splitlines()
        peaks = [line for line in lines if line.startswith("peak ")]
        nodes = {(entry["peak_at"]["phase"], entry["peak_at"]["node"]) for entry in devices}
        self.assertEqual(len(peaks), len(nodes))
        for entry in devices:
            at = entry["peak_at"]
            line = next(line for line in peaks if f"in {at['phase']} at {at['node']}" in line)
            if len(nodes) > 1:
                self.assertIn(entry["device"]["name"].upper().split("-")[0], line)
        self.assertEqual(sum(line.startswith("held by ") for line in lines), len(nodes))

    def test_all_devices(self):
        shipped = shipped_gpus()
        found = answer(DYNAMIC, "--device", "all", "--max", "x.0")
        self.assertEqual({entry["device"]["name"] for entry in found["devices"]}, shipped)
        for entry in found["devices"]:
            self.assertGreater(entry["largest"]["size"], 0)

    def test_which_device_to_rent(self):
        prices = json.loads((ROOT / "examples" / "prices.json").read_text())
        found = answer(GPT2, "--optimizer", "adamw", "--device", "h100,a100-40g,t4,l4", "--price", "examples/prices.json",
                       "--samples", "1e6", "--deadline", "1d")
        costs = {}
        for entry in found["devices"]:
            name, time, rent = entry["device"]["name"], entry["time"], entry["rent"]
            # The step is that of the largest batch.
            self.assertEqual(entry["largest"]["dimension"], "batch")
            self.assertEqual(time["samples"], entry["largest"]["size"])
            self.assertLess(time["step_time_low_us"], time["step_time_us"])
            steps = -(-10**6 // time["samples"])
            for key, us in [("job_seconds", "step_time_us"), ("job_high_seconds", "step_time_high_us")]:
                self.assertAlmostEqual(rent[key], steps * time[us] / 1e6, places=3)
            self.assertEqual(rent["in_time"] == "yes", rent["job_high_seconds"] <= 86400)
            if name not in prices["per_hour"]:
                self.assertIsNone(rent["job_cost"])
                continue
            self.assertAlmostEqual(rent["job_cost"], prices["per_hour"][name] * rent["job_seconds"] / 3600, places=6)
            if rent["in_time"] in ["yes", "likely"]:
                costs[name] = rent["job_cost"]
        self.assertEqual(found["job"]["best_device"], min(costs, key=costs.get))
        self.assertEqual(found["job"]["currency"], prices["currency"])

    def test_the_step_is_the_profiles(self):
        found = answer(GPT2, "--device", "h100", "--time")
        profile = program.read("profile", GPT2, "--device", "h100", "--time")
        self.assertEqual(found["time"]["step_time_us"], profile["totals"]["step_time_us"])
        self.assertIsNone(found["job"])
        self.assertIsNone(answer(GPT2, "--device", "h100")["time"])

    def test_questions_about_a_job_that_have_no_answer(self):
        for arguments, word in [(["--deadline", "3d"], "--samples"), (["--samples", "some"], "1e6"),
                                (["--samples", "9", "--deadline", "soon"], "3d"), (["--price", "none.json"], "per_hour"),
                                (["--time", "--micro-batches", "2"], "--micro-batches")]:
            refused = fit(GPT2, *arguments)
            self.assertEqual(refused.returncode, 2, arguments)
            self.assertIn(word, refused.stderr)

    def test_a_narrow_terminal_tells_devices_apart(self):
        for columns in [60, 80, 120]:
            _, text = program.run_on_terminal("fit", VIT, "--set", "x.0=700", "--max", "x.0", "--device",
                                              "all", columns=columns, NO_COLOR="1")
            lines = text.decode().splitlines()
            rule = next(number for number, line in enumerate(lines) if line.startswith("──"))
            rows = lines[rule + 1:lines.index("", rule)]
            names = {row[:lines[rule].index(" ")] for row in rows}
            self.assertEqual(len(names), len(shipped_gpus()))
            # What makes it fit can be copied.
            self.assertTrue(any(row.endswith("--autocast bf16") for row in rows))
            self.assertTrue(any(row.endswith("--checkpoint 'encoder.layers.*'") for row in rows))

    def test_no_says_where_and_what_would_help(self):
        memory = answer(GPT2, "--optimizer", "adamw")["device"]["memory_bytes"]
        context = f"{memory - 4 * 2**30}B"  # 4 GiB are left.
        found = answer(GPT2, "--optimizer", "adamw", "--context", context, code=1)
        self.assertFalse(found["fits"])
        self.assertLess(found["margin_bytes"], 0)
        changes = found["changes"]
        self.assertIn("--autocast bf16", [change["change"] for change in changes])
        fits = [change["fits"] for change in changes]
        self.assertEqual(fits, sorted(fits, reverse=True))
        self.assertTrue(fits[0])
        text = fit(GPT2, "--optimizer", "adamw", "--context", context)
        self.assertEqual(text.returncode, 1)
        self.assertIn("does not fit into NVIDIA H200", text.stdout)
        self.assertIn("refused      a request in ", text.stdout)
        # Each is what the command line says it is, and saves memory.
        for change in changes:
            self.assertLess(change["peak_reserved_bytes"], found["peak_reserved_bytes"])
            options = shlex.split(change["change"])
            if "--optimizer" not in options:
                options += ["--optimizer", "adamw"]
            again = answer(GPT2, *options, "--context", context, code=0 if change["fits"] else 1)
            self.assertEqual(again["peak_reserved_bytes"], change["peak_reserved_bytes"])

    def test_where_states_are_what_is_too_much_another_optimizer_helps(self):
        found = answer("models/llama_7b.pt2", "--optimizer", "adamw", "--device", "l40s", code=1)
        self.assertEqual([change["change"] for change in found["changes"] if change["fits"]],
                         ["--optimizer adafactor"])

    def test_a_smaller_batch_is_the_largest_that_fits_and_parts_make_the_same_batch(self):
        model = (VIT, "--device", "a100-40g")
        batch = 704
        found = answer(*model, "--set", f"x.0={batch}", code=1)
        smaller = [change["change"] for change in found["changes"] if "--set" in change["change"]]
        self.assertEqual(len(smaller), 2)
        _, size, _, parts = shlex.split(smaller[0])
        self.assertEqual(int(size.removeprefix("x.0=")) * int(parts), batch)
        largest = int(shlex.split(smaller[1])[1].removeprefix("x.0="))
        answer(*model, "--set", f"x.0={largest}")
        answer(*model, "--set", f"x.0={largest + 1}", code=1)

    def test_what_the_model_does_not_run_with_is_told(self):
        memory = answer(DYNAMIC)["device"]["memory_bytes"]
        found = answer(TINY, "--input", "x=float32[64,64]", "--context",
                       f"{memory - 2**20}B", code=1)
        self.assertIn("--dtype bf16", [entry["change"] for entry in found["not_tried"]])
        largest = answer("models/tiny/mlp.pt", "--input", "x=float32[rows,width]", "--set", "rows=8",
                         "--set", "width=64", "--max", "width")["largest"]
        self.assertEqual((largest["size"], largest["refused_size"]), (64, 65))
        self.assertIn("shapes cannot be multiplied", largest["refused_because"])

    def test_the_largest_size_needs_no_first_one(self):
        found = answer("models/vit_b_16.onnx", "--max", "batch", "--device", "t4")
        self.assertGreater(found["largest"]["size"], 1)

    def test_the_allocators_fraction_of_the_device_is_what_there_is(self):
        found = answer(GPT2, "--alloc-conf", "per_process_memory_fraction:0.25", "--context", "0B")
        self.assertEqual(found["margin_bytes"],
                         found["device"]["memory_bytes"] // 4 - found["peak_reserved_bytes"])

    def test_what_nvidia_smi_shows(self):
        memory = answer(GPT2, "--device", "h100")["memory"]
        self.assertIsNone(memory["context_bytes"])
        self.assertIsNone(memory["nvidia_smi_bytes"])
        found = answer(GPT2, "--device", "h200")
        measured = json.loads((program.ROOT / "devices" / "h200.json").read_text())["context_bytes"]
        self.assertEqual(found["memory"]["nvidia_smi_bytes"], found["peak_reserved_bytes"] + measured)
        found = answer(GPT2, "--context", "500MiB")
        memory = found["memory"]
        self.assertEqual(memory["nvidia_smi_bytes"], found["peak_reserved_bytes"] + 500 * 2**20)
        self.assertEqual(memory["fragmentation_bytes"],
                         found["peak_reserved_bytes"] - found["peak_allocated_bytes"])

    def test_the_largest_size_fits_and_the_next_does_not(self):
        memory = answer(DYNAMIC)["device"]["memory_bytes"]
        context = f"{memory - 200 * 2**20}B"
        largest = answer(DYNAMIC, "--max", "x.0", "--context", context)["largest"]
        size = largest["size"]
        self.assertEqual(largest["dimension"], "x.0")
        answer(DYNAMIC, "--set", f"x.0={size}", "--context", context)
        if largest["refused_size"] is not None:
            self.assertEqual(largest["refused_size"], size + 1)
            answer(DYNAMIC, "--set", f"x.0={size + 1}", "--context", context, code=1)

    def test_a_dimension_ends_where_its_symbol_does(self):
        for name, most in (("x.0", 4096), ("s77", 4096), ("x.1", 1024)):  # As it was exported.
            largest = answer(DYNAMIC, "--max", name)["largest"]
            self.assertEqual((largest["size"], largest["refused_size"]), (most, None))

    def test_bad_questions(self):
        for arguments, text in [
                (["--device", "h200,h2000"], "unknown device 'h2000'"),
                (["--max", "nothing"], "no input has a dimension called 'nothing'"),
                (["--context", "many"], "'many' is no number of bytes"),
                (["--context", "500GiB"], "leaves nothing of the device's memory"),
                (["--alloc-conf", "max_split:3"], "max_split is no setting of the allocator")]:
            result = fit(DYNAMIC, *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stdout, "")
            self.assertIn(text, result.stderr)

    def test_plan_as_cpp_names_the_modules_of_the_plan(self):
        step = [GPT2, "--set", "batch=8", "--optimizer", "adamw", "--device", "t4", "--budget", "8GiB"]
        plan = program.read("plan checkpoint", *step, "--whole")["plan"]
        written = program.run("plan", "checkpoint", *step, "--format", "cpp").stdout
        listed = re.findall('^    "(.*)",$', written, re.M)
        self.assertEqual(listed, [module for region in plan["regions"] for module in region["modules"]])
        self.assertTrue(listed)

    def test_offloading_costs_no_more_than_recomputing(self):
        step = [GPT2, "--set", "batch=8", "--optimizer", "adamw", "--device", "t4", "--budget", "5.05GiB"]
        self.assertEqual(program.run("plan", "checkpoint", *step, "--alloc-conf", "expandable_segments:True").returncode, 0)
        plain, offloaded = (program.read("plan checkpoint", *step, *more)["budgets"][0] for more in ([], ["--offload"]))
        self.assertTrue(offloaded["found"])
        if plain["found"]:
            self.assertLessEqual(offloaded["recompute_time_us"], plain["recompute_time_us"])

    def test_offloading_finds_a_plan_where_nothing_that_runs_again_can(self):
        step = [NARROW_DECODER, "--optimizer", "adamw", "--device", "h100", "--budget", "1780MB"]
        written = program.run("plan", "checkpoint", *step, "--offload", "--format", "json").stdout
        (plain,), (offloaded,) = budgets_of(*step), json.loads(written)["budgets"]
        self.assertTrue(plain["impossible"])
        self.assertTrue(offloaded["found"])
        self.assertGreater(offloaded["offloaded_bytes"], 0)
        self.assertLessEqual(offloaded["peak_reserved_bytes"], offloaded["available_bytes"])
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(written)
            file.flush()
            simulated = program.read("profile", *step[:-2], "--checkpoint", file.name, *start_of(offloaded))
        self.assertEqual(simulated["totals"]["peak_reserved_bytes"], offloaded["peak_reserved_bytes"])

    def test_segments_that_grow_are_offered_where_they_hold_a_budget_for_less(self):
        step = [MANY_SMALL_BLOCKS, "--optimizer", "adamw", "--device", "h100", "--budget", "1200MiB,1272MiB,1278MiB,40GiB"]
        found, grown, refused = (budgets_of(*step, *more) for more in (
            ["--alloc-conf", NOTHING_UP_FRONT + more] for more in ("", ",expandable_segments:True", ",expandable_segments:False")))
        for plain, with_them in zip(found, grown):
            offer = plain["expandable_segments"]
            is_better = with_them["found"] and (not plain["found"] or with_them["recompute_time_us"] < plain["recompute_time_us"])
            self.assertEqual(offer is not None, is_better)
            if offer:
                self.assertEqual(offer["recompute_time_us"], with_them["recompute_time_us"])
                self.assertEqual(offer["plan"], with_them["plan"])
                self.assertLessEqual(offer["peak_reserved_bytes"], plain["available_bytes"])
        self.assertEqual([one["found"] for one in found], [False, False, True, True])
        self.assertEqual([one["expandable_segments"] is None for one in found], [True, False, False, True])
        self.assertEqual([one["expandable_segments"] for one in refused + grown], [None] * 8)

    def test_a_plan_in_python_sets_the_segments_that_it_is_for(self):
        step = ["plan", "checkpoint", MANY_SMALL_BLOCKS, "--optimizer", "adamw", "--device", "h100", "--budget", "1278MiB"]
        sets = 'torch.cuda.memory._set_allocator_settings("expandable_segments:True")'
        offered, asked, refused = (program.run(*step, "--format", "python", *more).stdout for more in (
            ["--alloc-conf", NOTHING_UP_FRONT + more] for more in ("", ",expandable_segments:True", ",expandable_segments:False")))
        for code, is_set in ((offered, True), (asked, True), (refused, False)):
            compile(code, "plan.py", "exec")
            self.assertEqual(sets in code, is_set)
        self.assertEqual(offered[offered.index("PLAN = "):], asked[asked.index("PLAN = "):])
        self.assertNotEqual(offered[offered.index("PLAN = "):], refused[refused.index("PLAN = "):])

    def test_throughput_of_batches_with_their_plans(self):
        step = ["--optimizer", "adamw", "--device", "t4"]
        found = program.read("plan throughput", GPT2, *step, "--budget", "6GiB")["devices"][0]
        batches = found["batches"]
        self.assertEqual([row["batch"] for row in batches], sorted(row["batch"] for row in batches))
        fastest = max(batches, key=lambda row: row["samples_per_second"])
        self.assertEqual(found["fastest_batch"], fastest["batch"])
        largest = batches[-1]
        self.assertEqual(found["largest_batch"], largest["batch"])
        self.assertTrue(largest["plan"]["regions"])
        self.assertAlmostEqual(largest["samples_per_second"], 1e6 * largest["batch"] / largest["step_time_us"])
        with tempfile.NamedTemporaryFile("w", suffix=".json") as plan:
            json.dump({"schema": "symprof.checkpoint_plan/1", "plan": largest["plan"]}, plan)
            plan.flush()
            totals = program.read("profile", GPT2, *step, *start_of(largest), "--set", f"batch={largest['batch']}", "--checkpoint", plan.name)["totals"]
        for peak in ("peak_allocated_bytes", "peak_reserved_bytes"):
            self.assertEqual(totals[peak], largest[peak])
        self.assertLessEqual(largest["peak_reserved_bytes"], 6 << 30)
        again = program.read("fit", GPT2, *step[:2], "--device", "t4", "--max", "batch", "--plan")
        self.assertGreater(again["devices"][0]["largest_with_plan"]["size"], again["devices"][0]["largest"]["size"])
        more = program.run("plan", "checkpoint", GPT2, *step, "--set", f"batch={largest['batch'] + 1}", "--budget", "6GiB")
        self.assertEqual(more.returncode, 1, more.stderr)


if __name__ == "__main__":
    program.main()
