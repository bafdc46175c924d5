"""The cases: which model, in which dtype, with which step, and their variants."""
import dataclasses
import itertools
import re

from .models import MODELS

DTYPES = ("fp32", "autocast", "bf16")
STEPS = ("forward", "backward", "sgd_momentum", "adam_single", "adam_foreach", "adam_fused")
VARIANTS = ("no_benchmark", "expandable", "fragmented")
# Cases whose second step is recorded once more with the calls that ask for each block (variant "calls").
WITH_CALLS = "^(moe_small-fp32-adam_single|mistral_like-bf16-adam_fused)-checkpoint-b2|^lstm-fp32-adam"


@dataclasses.dataclass(frozen=True)
class Case:
    model: str
    dtype: str
    step: str
    checkpoint: bool
    batch: int
    variant: str = "base"

    @property
    def name(self):
        kept = "checkpoint" if self.checkpoint else "plain"
        return f"{self.model}-{self.dtype}-{self.step}-{kept}-b{self.batch}-{self.variant}"

    @property
    def seconds(self):
        return MODELS[self.model].seconds * (1.5 if self.variant == "fragmented" else 1)


def base_cases(number, model):
    """Half of the pairs of dtype and step, the other half for the next model; checkpointing and
    the batch go through their pairs beside them. One common case makes models comparable."""
    batches = MODELS[model].batches
    common = Case(model, "autocast", "adam_fused", False, batches[0])
    found = {common.name: common}
    for index, (dtype, step) in enumerate(itertools.product(DTYPES, STEPS)):
        if index % 2 != (number + index // len(STEPS)) % 2:
            continue
        again = step != "forward" and (index // 2 + number // 2) % 2 == 1
        case = Case(model, dtype, step, again, batches[(index // 3 + number) % 2])
        found[case.name] = case
    return list(found.values())


def all_cases():
    """Every base case, then the variants of a third of them and one repeated per model."""
    base = [base_cases(number, model) for number, model in enumerate(MODELS)]
    flat = [case for cases in base for case in cases]
    traced = [dataclasses.replace(case, variant="calls") for case in flat if re.search(WITH_CALLS, case.name)]
    varied = [dataclasses.replace(case, variant=variant) for case in flat[::3] for variant in VARIANTS]
    again = [dataclasses.replace(cases[0], variant="again") for cases in base]
    return flat + again + varied + traced
