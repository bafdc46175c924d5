"""Runs the program under test as a user would, from the root of the source tree. Standard library only.

Each test file ends with program.main(), which takes the program's path from the command line.
"""
import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import termios
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = "models/tiny/mlp.pt2"
DYNAMIC = "models/tiny/dynamic_shapes.pt2"
VIT = "models/vit_b_16.pt2"
GPT2 = "models/gpt2.pt2"

path = ""


def run(*arguments, cwd=ROOT, **options):
    return subprocess.run([path, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120,
                          **options)


def read(command, *arguments, code=0):
    """The output as JSON; `code` is the expected exit code."""
    result = run(*command.split(), "--format", "json", *arguments)
    assert result.returncode == code, result.stderr
    return json.loads(result.stdout)


def run_on_terminal(*arguments, columns=200, **env):
    """Exit code and output on a terminal of so many columns, as bytes."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([path, *arguments], cwd=ROOT, stdout=follower, stderr=follower,
                               env=dict(os.environ, TERM="xterm", **env))
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:  # Linux's error if the other side is closed.
        pass
    os.close(leader)
    return process.wait(), text


def main():
    global path
    path = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__")
