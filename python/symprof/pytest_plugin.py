"""A pytest plug-in: a test that fails when a model costs more than it may.

    # pytest.ini                                # it has to come before torch is imported
    addopts = -p symprof.pytest_plugin

    def test_cost(assert_cost):
        assert_cost(Model(), torch.randn(8, 3, 224, 224), optimizer="adamw", peak="<20GiB", fwd_flops="<=1.2T")
        assert_cost(Model(), torch.randn(8, 3, 224, 224), golden="model")     # model.cost.json beside the test

`--update-costs` writes the golden files anew.
"""
import json
import operator
import pathlib
import re
from collections.abc import Callable
from typing import Any

import pytest

from . import Error, Profile, profile

GOLDEN = ("param_bytes", "saved_bytes", "peak_allocated_bytes", "peak_reserved_bytes", "fwd_flops", "bwd_flops")
SHORT = {"peak": "peak_allocated_bytes", "flops": "fwd_flops", "saved": "saved_bytes", "reserved": "peak_reserved_bytes"}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
                                                      "==": operator.eq}
UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
         **{f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)},
         **{f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", 1)}}


def bound_of(text: Any) -> tuple[str, float]:
    """"<20GiB" as a comparison and a number.

    >>> bound_of("<=1.5GiB")
    ('<=', 1610612736.0)
    >>> bound_of(7)
    ('==', 7.0)
    """
    found = re.fullmatch(r"\s*(<=|>=|==|<|>)?\s*([0-9.]+)\s*([A-Za-z]*)\s*", str(text))
    if found is None or found[3] not in UNITS:
        raise Error(f"assert_cost: found '{text}', wanted a bound such as '<20GiB', '<=1.2T' or a number.")
    return found[1] or "==", float(found[2]) * UNITS[found[3]]


def broken_bounds(costs: Profile, bounds: dict[str, Any]) -> list[str]:
    broken = []
    for name, text in bounds.items():
        figure = SHORT.get(name, name)
        if figure not in costs.totals:
            raise Error(f"assert_cost: there is no figure '{name}'.\n  There are {', '.join([*SHORT, *costs.totals])}.")
        comparison, limit = bound_of(text)
        if not COMPARISONS[comparison](costs.totals[figure], limit):
            broken.append(f"{name} is {costs.totals[figure]:,}, wanted {text}")
    return broken


def differences(costs: Profile, path: pathlib.Path) -> list[str]:
    if not path.exists():
        return [f"{path.name} is not there; --update-costs writes it"]
    golden = json.loads(path.read_text())
    return [f"{figure} is {costs.totals[figure]:,}, was {golden[figure]:,} ({costs.totals[figure] - golden[figure]:+,})"
            for figure in GOLDEN if costs.totals[figure] != golden[figure]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-costs", action="store_true", help="write the golden files of assert_cost anew")


@pytest.fixture
def assert_cost(request: pytest.FixtureRequest) -> Callable[..., Profile]:
    """`assert_cost(model, *args, golden=…, peak="<20GiB", **settings)`; gives the profile."""

    def check(model: Any, *args: Any, golden: str | None = None, **settings: Any) -> Profile:
        names = {name for name in settings if name in SHORT or name.endswith(("_bytes", "_flops"))}
        bounds = {name: settings.pop(name) for name in names}
        costs = profile(model, *args, **settings)
        broken = broken_bounds(costs, bounds)
        if golden is not None:
            path = request.path.parent / f"{golden}.cost.json"
            if request.config.getoption("--update-costs"):
                path.write_text(json.dumps({figure: costs.totals[figure] for figure in GOLDEN}, indent=1) + "\n")
            broken += differences(costs, path)
        if broken:
            pytest.fail("the step costs something else:\n  " + "\n  ".join(sorted(broken)) + f"\n\n{costs.table('module', depth=1)}",
                        pytrace=False)
        return costs

    return check
