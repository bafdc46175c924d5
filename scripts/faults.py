#!/usr/bin/env python3
"""Disturbs every command that writes a file, and says what it left: killed at random moments (SIGKILL), a file system that is full
(RLIMIT_FSIZE, /dev/full), a pipe that is closed at the other end, a folder that must not be written. A file is the old one or the whole new
one; a command that could not write says so and ends with an error, never by a signal.

Usage: faults.py SYMPROF_BINARY [--kills 100] [--seed 1]. As root, the read-only folder is tried as the user nobody."""
import argparse
import contextlib
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS, TINY = ROOT / "models", ROOT / "models" / "tiny"
GPT = str(MODELS / "gpt2.pt2")
RESNET = str(MODELS / "resnet50.onnx")
ENGINE = str(ROOT / "tests" / "engine" / "samples" / "controlnet_7bb9d37.graph.json")
SMALL = str(ROOT / "tests" / "workbench" / "golden" / "models" / "cnn.onnx")
OLD = b"the file as it was\n"
COMMANDS = {
    "profile": ["profile", GPT, "--format", "json"],
    "profile html": ["profile", GPT, "--format", "html"],
    "profile memory-snapshot": ["profile", GPT, "--format", "memory-snapshot"],
    "profile chrome-trace": ["profile", GPT, "--format", "chrome-trace", "--device", "h100"],
    "fit": ["fit", GPT, "--device", "a100-40g", "--format", "json"],
    "plan checkpoint": ["plan", "checkpoint", GPT, "--budget", "6GiB", "--format", "python"],
    "plan parallel": ["plan", "parallel", GPT, "--mesh", "2", "--format", "json"],
    "show": ["show", RESNET],
    "stats": ["stats", RESNET, "--format", "json"],
    "dot": ["dot", RESNET],
    "inline": ["inline", RESNET],
    "strip": ["strip", SMALL],
    "fill": ["fill", RESNET, "--seed", "1"],
    "optimize": ["optimize", RESNET],
    "compare": ["compare", SMALL, SMALL],
    "dump": ["dump", SMALL, "--module", ""],
    "engine": ["engine", ENGINE],
    "devices": ["devices", "--format", "json"],
    "ops": ["ops", "--format", "json"],
}


class Faults:
    def __init__(self, program, folder, kills, seed):
        self.program, self.folder, self.kills = program, folder, kills
        self.random = random.Random(seed)
        self.problems, self.counts = [], {}

    def run(self, words, output, **how):
        how.setdefault("stdout", subprocess.PIPE)
        extra = [] if output is None else ["-o", str(output)]
        return subprocess.Popen([self.program, *words, *extra], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **how)

    def expect(self, holds, what):
        self.counts[what.split(":")[0]] = self.counts.get(what.split(":")[0], 0) + 1
        if not holds:
            self.problems.append(what)

    def undisturbed(self, name, words):
        """The new file, and seconds."""
        path, start = self.folder / "new", time.monotonic()
        _, errors = (child := self.run(words, path)).communicate()
        if not path.exists():
            raise SystemExit(f"{name}: wrote nothing, exit code {child.returncode}: {errors.decode()}")
        seconds, text = time.monotonic() - start, path.read_bytes()
        path.unlink()
        return text, seconds

    def killed(self, name, words, text, seconds):
        for _ in range(self.kills):
            path = self.folder / "out"
            path.write_bytes(OLD)
            child = self.run(words, path)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(self.random.uniform(0, 1.1 * seconds))
            child.send_signal(signal.SIGKILL)
            child.communicate()
            self.expect(path.read_bytes() in (OLD, text), f"killed: {name}: half a file of {path.stat().st_size} bytes")
            for left in self.folder.iterdir():
                left.unlink()

    def full(self, name, words, text):
        path = self.folder / "out"
        path.write_bytes(OLD)
        child = self.run(words, path, preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
                                                          resource.setrlimit(resource.RLIMIT_FSIZE, (len(text) // 2, len(text) // 2))))
        _, errors = child.communicate()
        self.expect(child.returncode in (2, 3) and b"cannot be written" in errors and path.read_bytes() == OLD
                    and os.listdir(self.folder) == ["out"], f"full: {name}: exit code {child.returncode}, {errors[-200:]!r}, "
                    f"{os.listdir(self.folder)}")
        with open("/dev/full", "wb") as full:
            child = self.run(words, None, stdout=full)
            _, errors = child.communicate()
        self.expect(child.returncode in (2, 3) and errors, f"/dev/full: {name}: exit code {child.returncode}, {errors[-200:]!r}")
        path.unlink()

    def closed_pipe(self, name, words):
        """As `symprof … | head`: ends by SIGPIPE, or without it as any command does."""
        read, write = os.pipe()
        os.close(read)
        child = self.run(words, None, stdout=write)
        os.close(write)
        _, errors = child.communicate()
        self.expect(child.returncode in (0, 1, 2, 3, -signal.SIGPIPE), f"closed pipe: {name}: exit code {child.returncode}, {errors[-200:]!r}")

    def read_only(self, name, words):
        folder = self.folder / "read_only"
        folder.mkdir(mode=0o555)
        user = {"user": "nobody"} if os.geteuid() == 0 else {}
        child = self.run(words, folder / "out", **user)
        _, errors = child.communicate()
        self.expect(child.returncode in (2, 3) and b"cannot be written" in errors and not os.listdir(folder),
                    f"read-only: {name}: exit code {child.returncode}, {errors[-200:]!r}")
        folder.rmdir()

    def all(self, only):
        for name, words in COMMANDS.items():
            if only and name not in only:
                continue
            text, seconds = self.undisturbed(name, words)
            again, _ = self.undisturbed(name, words)
            if text != again:
                raise SystemExit(f"{name}: two runs write different files; choose options without times")
            self.killed(name, words, text, seconds)
            self.full(name, words, text)
            self.closed_pipe(name, words)
            self.read_only(name, words)
            print(f"{name:24} {seconds:6.2f} s {len(text):10,} bytes   problems so far: {len(self.problems)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="COMMAND")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="symprof_faults"))
    folder.chmod(0o755)
    faults = Faults(os.path.abspath(options.program), folder, options.kills, options.seed)
    try:
        faults.all(options.only)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(", ".join(f"{what} {count}" for what, count in faults.counts.items()))
    if faults.problems:
        sys.exit("\n".join(faults.problems))


if __name__ == "__main__":
    main()
