"""What programs ask of CUDA's libraries and of the environment: the allocator's settings, workspaces, answers of torch.cuda's whole
public interface, and libraries that call CUDA themselves."""
import inspect
import os
import types
import unittest
from unittest import mock

import symprof  # Before torch.

import torch
from torch import nn

MIB = 2**20
SIZES = 40, 60, 80  # MiB, in whole pages of 20 MiB, which an expandable segment maps.
EXPANDABLE = "expandable_segments:True"


def growing_blocks():
    """Each is larger than what is cached, so that only one range of addresses can serve all."""
    for mib in SIZES:
        del_soon = torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")
        del del_soon


def reserved(variables=(), alloc_conf=None, before=lambda: None, after=lambda: None):
    with mock.patch.dict(os.environ, dict(variables)):
        with symprof.simulate(alloc_conf=alloc_conf) as run:
            before()
            growing_blocks()
            after()
            bytes_reserved = torch.cuda.max_memory_reserved()
    return bytes_reserved, run.profile


class AllocatorSettings(unittest.TestCase):
    def test_the_environment_is_obeyed_as_the_setting_is(self):
        apart, one_range = reserved()[0], reserved(alloc_conf=EXPANDABLE)[0]
        self.assertEqual((apart, one_range), (sum(SIZES) * MIB, max(SIZES) * MIB))
        for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
            self.assertEqual(reserved({name: EXPANDABLE})[0], one_range)

    def test_a_program_may_set_it_before_the_device_is_used(self):
        set_it = lambda: os.environ.update(PYTORCH_CUDA_ALLOC_CONF=EXPANDABLE)
        self.assertEqual(reserved(before=set_it)[0], max(SIZES) * MIB)
        self.assertEqual(reserved(after=set_it)[0], sum(SIZES) * MIB)

    def test_a_program_may_set_the_allocator_itself(self):
        self.assertEqual(reserved(before=lambda: torch._C._accelerator_setAllocatorSettings(EXPANDABLE))[0], max(SIZES) * MIB)
        self.assertEqual(reserved(before=lambda: torch.cuda.memory._set_allocator_settings(EXPANDABLE))[0], max(SIZES) * MIB)

    def test_the_setting_comes_before_the_environment(self):
        found, profile = reserved({"PYTORCH_ALLOC_CONF": "expandable_segments:True"}, alloc_conf="expandable_segments:False")
        self.assertEqual(found, sum(SIZES) * MIB)
        self.assertEqual(profile.warnings, [])

    def test_what_the_allocator_does_not_know_is_a_warning(self):
        found, profile = reserved({"PYTORCH_ALLOC_CONF": "expandable_segment:True"})
        self.assertEqual(found, sum(SIZES) * MIB)
        self.assertIn("PYTORCH_ALLOC_CONF", " ".join(profile.warnings))

    def test_cublas_takes_the_workspace_that_the_environment_says(self):
        def held(text):
            with mock.patch.dict(os.environ, {"CUBLAS_WORKSPACE_CONFIG": text} if text else {}), symprof.simulate():
                a = torch.randn(256, 256, device="cuda")
                product = a @ a
                return torch.cuda.memory_allocated() - a.nbytes - product.nbytes

        self.assertEqual(held(":16:8"), 8 * 16 * 1024)
        self.assertEqual(held(":4096:2:16:8"), 2 * 4096 * 1024 + 8 * 16 * 1024)
        self.assertEqual(held("what is this"), held(""))

    def test_a_fraction_of_the_memory_is_a_limit(self):
        with symprof.simulate(device="h100"):
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(0.5)
            self.assertEqual(torch.cuda.get_per_process_memory_fraction(), 0.5)
            held = torch.empty(total // 4, dtype=torch.uint8, device="cuda")
            with self.assertRaises(torch.cuda.OutOfMemoryError):
                torch.empty(total // 3, dtype=torch.uint8, device="cuda")
            del held
            torch.empty(total // 3, dtype=torch.uint8, device="cuda")

    def test_without_a_fraction_a_program_runs_on(self):
        with symprof.simulate(device="h100"):
            total = torch.cuda.get_device_properties(0).total_memory
            self.assertEqual(torch.empty(2 * total, dtype=torch.uint8, device="cuda").nbytes, 2 * total)


def modules_of_cuda():
    import torch.cuda.tunable

    return (torch.cuda, torch.cuda.memory, torch.cuda.nccl, torch.cuda.amp, torch.cuda.random, torch.cuda.tunable, torch.cuda.nvtx,
            torch.accelerator, torch.accelerator.memory, torch.backends.cuda, torch.backends.cudnn)


def needs_nothing(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(parameter.default is not parameter.empty or parameter.kind in variadic for parameter in parameters)


class Answers(unittest.TestCase):
    def test_every_question_without_arguments_has_an_answer(self):
        asked = 0
        with symprof.simulate():
            torch.randn(2, device="cuda")
            for module in modules_of_cuda():
                for name, function in list(vars(module).items()):
                    if name.startswith("_") or not isinstance(function, types.FunctionType) or not needs_nothing(function):
                        continue
                    with self.subTest(f"{module.__name__}.{name}"):
                        asked += 1
                        try:
                            function()
                        except symprof.Error as error:
                            self.assertIn("\n", str(error))  # What to do next.
        self.assertGreater(asked, 80)

    def test_nccl_says_its_version(self):
        with symprof.simulate():
            self.assertGreater(torch.cuda.nccl.version(), (2, 10))

    def test_switches_of_kernels_keep_what_they_are_given(self):
        with symprof.simulate():
            torch.cuda.tunable.enable(True)
            self.assertTrue(torch.cuda.tunable.is_enabled())
            torch.cuda.tunable.set_max_tuning_iterations(7)
            self.assertEqual(torch.cuda.tunable.get_max_tuning_iterations(), 7)
            with torch.backends.cudnn.flags(enabled=True, benchmark_limit=3):
                pass

    def test_memory_for_another_library_is_counted_until_it_is_given_back(self):
        with symprof.simulate():
            address = torch.cuda.caching_allocator_alloc(MIB)
            self.assertEqual(torch.cuda.memory_allocated(), MIB)
            torch.cuda.caching_allocator_delete(address)
            self.assertEqual(torch.cuda.memory_allocated(), 0)

    def test_a_pool_is_the_common_one_and_it_is_said(self):
        with symprof.simulate() as run:
            with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
                torch.empty(MIB, device="cuda")
        self.assertEqual(sum("MemPool" in warning for warning in run.profile.warnings), 1)


class OtherLibraries(unittest.TestCase):
    def test_a_tensor_gives_no_memory_to_another_library(self):
        with symprof.simulate():
            x = torch.randn(4, device="cuda")
            for ask in (lambda: x.__cuda_array_interface__, lambda: x.__dlpack__(), lambda: torch.from_dlpack(x)):
                with self.assertRaisesRegex(symprof.Error, "register_fake"):
                    ask()
            self.assertEqual(torch.from_dlpack(torch.ones(2)).tolist(), [1, 1])

    def test_an_extension_for_cuda_is_refused_where_it_is_compiled(self):
        import torch.utils.cpp_extension as extension

        before = extension.load_inline
        with symprof.simulate(), self.assertRaisesRegex(symprof.Error, "my_kernels.*\n.*register_fake"):
            extension.load_inline("my_kernels", "", cuda_sources="__global__ void f() {}")
        self.assertIs(extension.load_inline, before)

    def test_a_torchvision_of_another_torch_is_refused_in_a_sentence(self):
        def no_operators():
            raise RuntimeError("Couldn't load custom C++ ops.")

        boxes = types.ModuleType("torchvision.ops.boxes")
        boxes._assert_has_ops = no_operators
        modules = {"torchvision": types.ModuleType("torchvision"), boxes.__name__: boxes}
        with mock.patch.dict("sys.modules", modules), symprof.simulate(), self.assertRaisesRegex(symprof.Error, "with or without symprof"):
            boxes._assert_has_ops()
        self.assertIs(boxes._assert_has_ops, no_operators)

    def test_what_is_offloaded_is_no_warning(self):
        with symprof.simulate() as run:
            x = torch.randn(2**21, device="cuda")
            torch.empty(x.shape, pin_memory=True).copy_(x, non_blocking=True)
            torch.empty(16, pin_memory=True).copy_(x[:16], non_blocking=True)
        self.assertEqual(run.profile.warnings, [])


@torch.library.custom_op("symprof_native_tests::update", mutates_args=("parameter",))
def update(parameter: torch.Tensor, gradient: torch.Tensor) -> None:
    raise AssertionError("a kernel of somebody's")


@update.register_fake
def _(parameter, gradient):
    return None


class OwnOptimizer(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter].setdefault("seen", torch.zeros_like(parameter))
                update(parameter, parameter.grad)


class Unknown(unittest.TestCase):
    def test_flops_of_kernels_without_a_rule_are_not_zero(self):
        with symprof.simulate() as run:
            model = nn.Linear(8, 8, bias=False, device="cuda")
            optimizer = OwnOptimizer(model.parameters())
            model(torch.randn(2, 8, device="cuda")).sum().backward()
            optimizer.step()
        self.assertIsNone(run.profile.totals["optimizer_flops"])
        self.assertEqual(run.profile.totals["fwd_flops"], 2 * 2 * 8 * 8)
        self.assertRegex(run.profile.table(), r"optimizer .*\? FLOPs")


if __name__ == "__main__":
    unittest.main()
