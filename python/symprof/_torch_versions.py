"""Which torch there is a wheel for. scripts/wheels.sh makes those of this list; docs/guide/new_torch.md says how it gets longer."""
import sys

from ._error import Error

BUILT = ("2.12", "2.13", "2.14")
WHEELS = "docs/guide/install.md"


def which_to_take(found: str, version: str) -> str:
    """What to install beside the torch that was found, as "2.12.1+cu130"."""
    minor = ".".join(found.split(".")[:2])
    if minor not in BUILT:
        return f"  There are wheels for torch {', '.join(BUILT)}: pip install 'torch=={BUILT[-1]}.*' 'symprof=={version}+torch{BUILT[-1]}'"
    return f"  pip install 'symprof=={version}+torch{minor}' (Python {sys.version_info.major}.{sys.version_info.minor}; where the wheels are: {WHEELS})"


def check(found: str, place: str, wanted: str | None, version: str) -> None:
    """LibTorch's C++ interface changes with the minor version; its libraries would say so by the name of a missing symbol.
    `wanted` is None where symprof was installed without its part for torch."""
    if wanted is None:
        raise Error(f"symprof: was installed without its part for torch; found torch {found} in {place}.\n{which_to_take(found, version)}")
    if not found.startswith(f"{wanted}."):
        raise Error(f"torch: found {found} in {place}, where this symprof was built with LibTorch {wanted}.\n{which_to_take(found, version)}\n"
                    f"  or torch {wanted}: pip install 'torch=={wanted}.*'")
