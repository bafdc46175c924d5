"""What the first comment lines of a script say about it."""
import dataclasses
import pathlib
import re

SCRIPTS = pathlib.Path(__file__).resolve().parent / "scripts"


@dataclasses.dataclass(frozen=True)
class Header:
    """`updates`: optimizer updates of one iteration. `iterations`: how many the script makes; given where no optimizer's
    step tells them apart, and the figures are then those of the whole script by this number. `saved`: why saved tensors
    have no reference. `bound`: why sizes are upper bounds in a simulation. `expect`: figures by formula, or None: there
    is no reference."""

    name: str
    title: str
    packages: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    updates: int = 1
    iterations: int = 0
    saved: str = ""
    bound: str = ""
    expect: dict[str, int | None] = dataclasses.field(default_factory=dict)

    @property
    def path(self) -> pathlib.Path:
        return SCRIPTS / f"{self.name}.py"

    @property
    def ranks(self) -> int:
        return int(self.arguments[self.arguments.index("--ranks") + 1]) if "--ranks" in self.arguments else 1


def read(path: pathlib.Path) -> Header:
    title, *lines = [line[2:] for line in path.read_text().splitlines() if line.startswith("# ")]
    found: dict[str, str] = {}
    expect: dict[str, int | None] = {}
    for line in lines:
        key, colon, value = line.partition(": ")
        if colon and key == "expect":
            figure, _, formula = value.partition(" = ")
            expect[figure] = eval(formula, {})  # The scripts are this repository's own.
        elif colon and re.fullmatch("[a-z]+", key):
            found[key] = value
    return Header(path.stem, title, tuple(found["packages"].split(", ")), tuple(found.get("arguments", "").split()),
                  int(found.get("updates", 1)), int(found.get("iterations", 0)), found.get("saved", ""), found.get("bound", ""), expect)


def scripts(names: list[str] | None = None) -> list[Header]:
    """All scripts, or those of these names."""
    paths = sorted(path for path in SCRIPTS.glob("*.py") if not path.name.startswith("_"))
    return [read(path) for path in paths if not names or path.stem in names]
