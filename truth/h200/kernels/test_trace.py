"""The reducer on fixtures/step_trace.json: one step written by hand in the format of torch.profiler,
small enough that every figure below can be added up from it. Times are in nanoseconds."""
import copy
import json
import pathlib
import unittest

from kernels import checks, steps_table
from kernels import trace as traces

FIXTURE = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "step_trace.json"

# memset, product, relu | threshold, product, sum | foreach | of no call
DURATIONS = [1500, 60250, 2000, 3000, 50000, 5000, 8000, 500]


def document():
    return json.loads(FIXTURE.read_text())


def step(events=None):
    read = document()
    if events is not None:
        events(read["traceEvents"])
    return steps_table.reduce_step(traces.parse(read), "step/0")


def texts(table, part, column):
    return [None if n is None else table["strings"][n] for n in table[part][column]]


def event(events, category, correlation):
    return next(e for e in events if e.get("cat") == category
                and e["args"].get("correlation") == correlation)


class ReducedStep(unittest.TestCase):
    def setUp(self):
        self.table = step()

    def test_the_step_has_the_work_launched_in_it(self):
        self.assertEqual(self.table["kernels"]["duration_ns"], DURATIONS)
        self.assertNotIn("kernel_behind_the_step", self.table["strings"])

    def test_totals_add_up(self):
        totals = self.table["totals"]
        self.assertEqual(totals["kernel_ns"], sum(DURATIONS))
        self.assertEqual(totals["busy_ns"], sum(DURATIONS))
        self.assertEqual(totals["span_ns"], 1800000 - 1060000)
        self.assertEqual(totals["idle_ns"], 1800000 - 1060000 - sum(DURATIONS))
        self.assertEqual(totals["attributed_ns"], sum(DURATIONS[:-1]))
        self.assertEqual(totals["cpu_ns"], 900000)

    def test_each_kernel_belongs_to_the_innermost_call(self):
        names = texts(self.table, "calls", "name")
        found = [names[call] if call >= 0 else None for call in self.table["kernels"]["call"]]
        self.assertEqual(found, ["aten::addmm", "aten::addmm", "aten::relu",
                                 "aten::threshold_backward", "aten::mm", "aten::sum",
                                 "aten::_foreach_add_", None])
        self.assertEqual(texts(self.table, "kernels", "linked_by"),
                         ["external", "external", "external", "launch", "external", "external",
                          "external", "none"])

    def test_calls_have_phase_parent_sequence_and_operands(self):
        names = texts(self.table, "calls", "name")
        at = names.index
        parents = self.table["calls"]["parent"]
        self.assertEqual(parents[at("aten::addmm")], at("aten::linear"))
        self.assertEqual(parents[at("aten::mm")],
                         at("autograd::engine::evaluate_function: AddmmBackward0"))
        self.assertEqual(parents[at("aten::_foreach_add_")], -1)
        phases = texts(self.table, "calls", "phase")
        self.assertEqual([phases[at(n)] for n in ("aten::relu", "aten::sum", "aten::_foreach_add_")],
                         ["forward", "backward", "optimizer"])
        self.assertEqual(self.table["calls"]["sequence"][at("aten::mm")],
                         self.table["calls"]["sequence"][at("aten::addmm")])
        self.assertEqual(texts(self.table, "calls", "input_sizes")[at("aten::addmm")],
                         "[[32],[8,16],[16,32]]")
        self.assertIsNone(self.table["calls"]["input_sizes"][at("aten::_foreach_add_")])

    def test_launch_facts(self):
        kernels = self.table["kernels"]
        self.assertEqual(texts(self.table, "kernels", "grid")[4], "[2,1,1]")
        self.assertEqual(texts(self.table, "kernels", "block")[5], "[32,8,1]")
        self.assertEqual((kernels["registers"][1], kernels["shared_bytes"][1]), (168, 98304))
        self.assertEqual((kernels["registers"][0], kernels["bytes"][0]), (None, 4096))
        self.assertEqual((kernels["launch_ns"][1], kernels["start_ns"][1]), (50000, 62500))

    def test_a_trace_without_gpu_gives_null_not_zero(self):
        def without_gpu(events):
            events[:] = [e for e in events if e.get("cat") not in traces.GPU_KINDS]
        totals = step(without_gpu)["totals"]
        self.assertEqual((totals["kernel_count"], totals["busy_ns"], totals["idle_ns"]),
                         (0, None, None))

    def test_bad_documents_are_refused(self):
        with self.assertRaises(traces.TraceError):
            traces.parse([])
        with self.assertRaises(traces.TraceError):
            steps_table.reduce_step(traces.parse(document()), "step/7")


class Checks(unittest.TestCase):
    def complaints(self, change):
        table = copy.deepcopy(step())
        change(table)
        return checks.check_step("step", table, True)

    def test_the_fixture_holds(self):
        self.assertEqual(checks.check_step("step", step(), True), [])

    def test_a_changed_time_is_seen(self):
        def longer(table):
            table["kernels"]["duration_ns"][6] += 1
        self.assertIn("kernel_ns", " ".join(self.complaints(longer)))

    def test_a_lost_link_is_seen(self):
        def unlink(table):
            table["kernels"]["call"][4] = -1
            table["totals"]["attributed_ns"] -= DURATIONS[4]
        self.assertIn("want 99%", " ".join(self.complaints(unlink)))

    def test_a_negative_gap_is_seen(self):
        def earlier(events):
            event(events, "kernel", 102)["ts"] = 1061.0
        found = checks.check_step("step", step(earlier), True)
        self.assertIn("1 kernels start before the one in front", " ".join(found))

    def test_a_call_outside_its_parent_is_seen(self):
        def moved(table):
            table["calls"]["start_ns"][1] += 10 ** 9
        self.assertIn("not inside its parent", " ".join(self.complaints(moved)))

    def test_a_kernel_before_its_launch_is_seen(self):
        def early(events):
            event(events, "cuda_runtime", 107)["ts"] = 1640.0
        found = checks.check_step("step", step(early), True)
        self.assertIn("1 kernels start before their launch", " ".join(found))

    def test_no_kernel_on_a_gpu_is_seen(self):
        def without_gpu(events):
            events[:] = [e for e in events if e.get("cat") not in traces.GPU_KINDS]
        self.assertEqual(checks.check_step("step", step(without_gpu), False), [])
        self.assertEqual(len(checks.check_step("step", step(without_gpu), True)), 1)



class Overlap(unittest.TestCase):
    """Three kernels of 100 ns on one stream, each 10 ns before the one in front ends."""

    WORK = [traces.Work(None, None, 90 * place, 100, 7, None, None, None, None, None, None, None) for place in range(3)]

    def test_every_overlap_is_counted(self):
        self.assertEqual(traces.overlap_ns(self.WORK), (2 * 10, 2))

    def test_kernels_of_one_library_call_may_overlap(self):
        self.assertEqual(traces.overlap_ns(self.WORK, [4, 4, 5]), (10, 1))
        self.assertEqual(traces.overlap_ns(self.WORK, [4, 4, None]), (10, 1))
        self.assertEqual(traces.overlap_ns(self.WORK, [4, 4, 4]), (0, 0))


if __name__ == "__main__":
    unittest.main()
