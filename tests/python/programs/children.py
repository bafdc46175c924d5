"""Runs programs in processes of their own: one that ends by a signal names its program."""
import dataclasses
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).parent
BATCH = 50  # Programs of a process.
RAN = "ran"  # What a child says between the CPU's run and the simulation.
SECONDS = 60  # For a program.


@dataclasses.dataclass(frozen=True)
class Verdict:
    state: str  # As compare.py says.
    what: str = ""  # The first figure that differs, or the error.


def verdicts(texts: list[str], jobs: int = 1) -> list[Verdict]:
    batches = [texts[i:i + BATCH] for i in range(0, len(texts), BATCH)]
    with ThreadPoolExecutor(jobs) as pool:
        return [verdict for batch in pool.map(_verdicts_of_batch, batches) for verdict in batch]


def _verdicts_of_batch(texts: list[str]) -> list[Verdict]:
    found: list[Verdict] = []
    while len(found) < len(texts):
        found += _one_process(texts[len(found):])
    return found


def _one_process(texts: list[str]) -> list[Verdict]:
    """Of all, or of those until one ended the process."""
    with tempfile.TemporaryDirectory() as folder:
        for i, text in enumerate(texts):
            (pathlib.Path(folder) / f"program{i:04}.py").write_text(text)
        with open(pathlib.Path(folder) / "stderr", "w+b") as errors:
            child = subprocess.Popen([sys.executable, "-X", "faulthandler", str(HERE / "child.py"), folder],
                                     stdout=subprocess.PIPE, stderr=errors)
            try:
                said, _ = child.communicate(timeout=SECONDS * 2 + len(texts) * 10)
                end = _end_of(child.returncode)
            except subprocess.TimeoutExpired:
                child.kill()
                said, _ = child.communicate()
                end = "ran without end"
            errors.seek(0)
            last = errors.read().decode(errors="replace")
    lines = [json.loads(line) for line in said.decode().splitlines()]
    found = [Verdict(**line) for line in lines if line != RAN]
    if len(found) < len(texts):
        is_torchs = lines[-1:] != [RAN]  # PyTorch on the CPU ended the process.
        found.append(Verdict("invalid" if is_torchs else "crashed", f"{end}: {_first_frame(last)}"))
    return found


def _end_of(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def _first_frame(text: str) -> str:
    """Of faulthandler's stack, or the last line that the process wrote."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    frames = [line for line in lines if line.startswith("File ")]
    return frames[0] if frames else lines[-1] if lines else ""
