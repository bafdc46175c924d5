"""Says for scikit-build-core (pyproject.toml) which torch the package needs: one of the minor version whose LibTorch it is
built with, as C++ has no stable interface between two."""
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent


def minor_version():
    """As "2.13". Before scripts/setup.sh has run, that of the LibTorch that it will take."""
    torch = pathlib.Path(os.environ.get("SYMPROF_TORCH", ROOT / ".deps/torch"))
    header = torch / "include/torch/headeronly/version.h"
    if header.exists():
        numbers = re.findall(r"^#define TORCH_VERSION_(?:MAJOR|MINOR) (\d+)", header.read_text(), re.M)
    else:
        numbers = re.search(r"^torch_version=(\d+)\.(\d+)", (ROOT / "scripts/setup.sh").read_text(), re.M).groups()
    return ".".join(numbers)


def dynamic_metadata(settings, project):
    if os.environ.get("SYMPROF_TORCH") == "OFF":  # The wheel for what needs no LibTorch.
        return {"dependencies": []}
    return {"dependencies": [f"torch=={minor_version()}.*"]}


def dynamic_wheel(settings):
    """A source distribution leaves open which LibTorch it will be built with."""
    return {"dependencies": True}
