"""The files survive a command that is killed; the sweep names every point once; points add up."""
import pathlib
import tempfile
import unittest

from kernels import checks, pack, points, storage


def kernel(times):
    return {"kind": "kernel", "name": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "registers": 8,
            "shared_bytes": 0, "bytes": None, "median_ns": times[1], "least_ns": times[0],
            "most_ns": times[2]}


def row(key, kernels, times, error=None):
    spread = dict(zip(("least", "low_quartile", "median", "high_quartile", "most"), times))
    clocks = dict.fromkeys(("sm_mhz", "memory_mhz", "temperature_c", "power_w"))
    return {"key": key, "family": "f", "operation": "o", "parameters": {}, "cache": "repeated",
            "repetition": int(key[-1]), "flops": 0, "bytes_moved": 0, "error": error, "repeats": 7,
            "sequences": 1, "kernels": kernels, "kernel_ns": spread, "cpu_ns": {"median": 1},
            "clocks_before": clocks, "clocks_after": clocks}


TWO_KERNELS = [kernel((10, 11, 12)), kernel((20, 22, 24))]
TIMES = (30, 31, 33, 35, 36)


class Storage(unittest.TestCase):
    def test_a_cut_member_is_dropped_and_the_others_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rows.jsonl.gz"
            storage.append(path, [{"a": 1}, {"a": 2}])
            whole = path.stat().st_size
            storage.append(path, [{"a": 3}])
            self.assertEqual([r["a"] for r in storage.rows(path)], [1, 2, 3])
            for length in range(whole, path.stat().st_size):
                cut = pathlib.Path(folder) / "cut.gz"
                cut.write_bytes(path.read_bytes()[:length])
                self.assertEqual([r["a"] for r in storage.rows(cut)], [1, 2])

    def test_columns_are_the_table(self):
        table = [{"a": 1, "b": None}, {"a": 2, "b": "x"}]
        self.assertEqual(storage.table(storage.columns(table)), table)

    def test_every_point_has_its_own_key(self):
        sweep = points.first_sweep() + points.second_sweep()
        self.assertEqual(len(set(map(points.key, sweep))), len(sweep))
        self.assertEqual({p.family for p in sweep}, set(points.FAMILIES))
        self.assertEqual({p.cache for p in sweep}, {"repeated", "flushed"})
        for point in sweep:
            self.assertIn(point.operation, points.FAMILIES[point.family].OPERATIONS)


class Points(unittest.TestCase):
    def test_kernels_that_add_up_hold(self):
        document = pack.operators_document([row("p/0", TWO_KERNELS, TIMES)])
        self.assertEqual(checks.check_points(document, True), [])

    def test_a_kernel_that_is_missing_is_seen(self):
        document = pack.operators_document([row("p/0", TWO_KERNELS, TIMES)])
        document["kernels"] = {k: v[:1] for k, v in document["kernels"].items()}
        self.assertTrue(checks.check_points(document, True))

    def test_times_that_do_not_add_up_are_seen(self):
        document = pack.operators_document([row("p/0", TWO_KERNELS, (30, 31, 40, 41, 42))])
        self.assertIn("its kernels 30 to 36", " ".join(checks.check_points(document, True)))

    def test_repeats_must_agree(self):
        def pair(second):
            times = tuple(t * 1000 for t in TIMES)
            again = tuple(round(t * second) for t in times)
            return pack.operators_document([row("p/0", [], times), row("p/1", [], again)])
        self.assertEqual(checks.check_repeats(pair(1.04)), [])
        self.assertIn("1 of 1 repeated points", " ".join(checks.check_repeats(pair(1.06))))

    def test_a_time_without_a_gpu_is_seen(self):
        document = pack.operators_document([row("p/0", TWO_KERNELS, TIMES)])
        self.assertIn("without a measurement", " ".join(checks.check_points(document, False)))


if __name__ == "__main__":
    unittest.main()
