"""The models of `truth/foreign`: {name: Model}, small configurations of packages that nobody of this project wrote."""
import dataclasses
import warnings
from typing import Any, Callable


@dataclasses.dataclass(frozen=True)
class Model:
    """`build` gives (module, positional arguments, keyword arguments) with memory, on the CPU."""

    package: str
    kind: str
    build: Callable[[], tuple[Any, tuple, dict]]


def prepare_packages():
    """For models and forked children: imports what they need, on one thread. After the shims that come before torch."""
    warnings.filterwarnings("ignore")
    import torch
    import zoo  # lets torchvision be imported without its compiled operators

    import transformers.integrations.executorch as caches

    assert zoo.TORCHVISION_OPERATORS
    caches.register_dynamic_cache_export_support()
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)  # it looks at data


def all_models():
    import held_out
    import held_out_later
    import packages_of_sequences
    import packages_of_space
    import packages_of_tables
    import transformers_models

    parts = (packages_of_tables, packages_of_sequences, transformers_models, packages_of_space, held_out,
             held_out_later)
    return {name: model for part in parts for name, model in part.MODELS.items()}
