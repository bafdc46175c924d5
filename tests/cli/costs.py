"""Changes in the costs between two models: symprof profile A -- B, which is symprof compare --costs.

    costs.py PROGRAM [unittest arguments]
"""
import unittest

import program

GOLDEN = "tests/workbench/golden/models"
LLAMA, MIXED = f"{GOLDEN}/llama.onnx", f"{GOLDEN}/llama_mixed.onnx"
FIGURES = ("fwd_flops_all", "bwd_flops_all")  # Columns of rows and of totals; rows sum to the totals.


def costs(a, b, *arguments, command="profile"):
    return program.read(command, a, *arguments, "--", b)


def names(answer, side):
    return [row[side]["op"] for row in answer["rows"] if row[side]]


class Costs(unittest.TestCase):
    def check_totals(self, answer):
        for figure in FIGURES:
            for side in (0, 1):
                rows = [row["figures"][figure][side] for row in answer["rows"] if row["ab"[side]]]
                self.assertEqual(sum(rows), answer["totals"][figure][side], figure)

    def test_a_model_beside_itself_is_alike(self):
        for model, arguments in ((program.GPT2, ()), (LLAMA, ("--by", "module")), (program.TINY, ("--by", "op"))):
            answer = costs(model, model, *arguments)
            self.assertEqual({row["mark"] for row in answer["rows"]}, {"="}, model)
            for row in answer["rows"]:
                self.assertEqual(row["a"], row["b"])
            for figure, (before, after) in answer["totals"].items():
                self.assertEqual(before, after, figure)

    def test_every_row_of_both_is_there_once_and_sums_to_the_step(self):
        for a, b in ((LLAMA, MIXED), (program.TINY, "models/tiny/convnet.pt2"), (f"{GOLDEN}/gpt.onnx", program.TINY)):
            for arguments in ((), ("--by", "module", "--depth", "2"), ("--by", "op")):
                answer = costs(a, b, *arguments)
                self.check_totals(answer)
                if arguments:
                    continue
                for side, model in (("a", a), ("b", b)):
                    wanted = program.read("profile", model)["totals"]
                    for figure in FIGURES:
                        self.assertEqual(answer["totals"][figure]["ab".index(side)], wanted[figure])
                    rows = program.run("profile", model, "--columns", "op", "--format", "csv").stdout.splitlines()[1:]
                    self.assertEqual(sorted(names(answer, side)), sorted(rows))

    def test_nodes_that_a_tool_left_as_they_were_are_pairs(self):
        answer = costs(LLAMA, MIXED)
        both = set(names(answer, "a")) & set(names(answer, "b"))
        paired = {row["a"]["op"] for row in answer["rows"] if row["a"] and row["b"] and row["a"]["op"] == row["b"]["op"]}
        self.assertGreaterEqual(len(paired), 0.95 * len(both), both - paired)

    def test_fewer_heads_show_in_the_layers_alone(self):
        answer = costs("models/llama_7b.pt2", "models/llama_7b_gqa.pt2", "--by", "module", "--depth", "3")
        self.assertEqual([row["a"]["op"] for row in answer["rows"] if row["mark"] != "="], ["model.model.layers"])
        # Keys and values of a quarter of the heads: 32 layers less 2 * 3/4 of a matrix, read by each token.
        before, after = answer["totals"]["param_bytes"]
        self.assertEqual(before - after, 32 * 2 * 4096 * 4096 * 2 * 3 // 4)

    def test_times_states_and_columns_on_request(self):
        answer = costs(LLAMA, MIXED, "--device", "h100", "--time", "--optimizer", "adamw", "--columns", "op,time,param")
        self.assertEqual(set(answer["rows"][0]["figures"]), {"time_us", "param_bytes"})
        self.assertGreater(answer["totals"]["step_time_us"][0], 0)
        self.assertGreater(answer["totals"]["optimizer_bytes"][0], 0)

    def test_times_that_are_near_are_alike(self):
        answer = costs(LLAMA, MIXED, "--device", "h100", "--time", "--columns", "op,time")
        times = [(row["mark"], *row["figures"]["time_us"]) for row in answer["rows"] if row["a"] and row["b"]]
        for mark, before, after in times:
            self.assertEqual(mark == "=", abs(before - after) <= 0.01 * max(before, after), (mark, before, after))
        self.assertTrue(any(mark == "=" and before != after for mark, before, after in times))

    def test_compare_costs_is_the_same_command(self):
        short = program.run("profile", LLAMA, "--by", "module", "--", MIXED)
        long = program.run("compare", "--costs", LLAMA, "--by", "module", "--", MIXED)
        self.assertEqual((long.returncode, long.stdout), (short.returncode, short.stdout))
        self.assertEqual(short.returncode, 0)

    def test_the_table_has_what_changed_most(self):
        text = program.run("profile", LLAMA, "--sort", "fwd_flops", "--top", "2", "-q", "--", MIXED).stdout
        rows = [line for line in text.splitlines() if line[:2] in ("~ ", "+ ", "- ")]
        self.assertEqual(len(rows), 2)
        self.assertRegex(text, r"\[\d+ others\]")
        self.assertRegex(text, r"\[\d+ alike\]")
        self.assertIn("saved for backward", text)

    def test_the_page_holds_what_the_table_holds(self):
        page = program.run("profile", LLAMA, "--format", "html", "-q", "--", MIXED).stdout
        answer = costs(LLAMA, MIXED)
        self.assertTrue(page.startswith("<!doctype html>") and page.endswith("</html>\n"))
        changed = [row for row in answer["rows"] if row["mark"] != "="]
        self.assertEqual(page.count('<tr><td>~</td>') + page.count('<tr><td>+</td>') + page.count('<tr><td>-</td>'), len(changed))

    def test_what_is_for_one_model_is_refused(self):
        for arguments in (["--peak"], ["--symbolic", "batch"], ["--measured-memory", "x.pickle"], ["--format", "csv"]):
            done = program.run("profile", LLAMA, *arguments, "--", MIXED)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(arguments[0].removeprefix("--"), done.stderr)
        done = program.run("profile", LLAMA, "--", "nobody.onnx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nobody.onnx", done.stderr)


if __name__ == "__main__":
    program.main()
