"""What `symprof profile` says of a step with its times, as the comparisons of this folder need it."""
import json
import subprocess

TIMES = ("fwd_time_us", "bwd_time_us", "optimizer_time_us")


class Refused(SystemExit):
    """symprof says why; where nobody catches it, the comparison ends with that."""


def profiled(symprof, path, *options):
    """The profile's JSON."""
    done = subprocess.run([symprof, "profile", str(path), "-q", "--time", "--format", "json", *options], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise Refused(f"{path}: {done.stderr}")
    return json.loads(done.stdout)


def busy_us(totals):
    """How long the device is busy in the step of these totals."""
    return sum(totals[key] for key in TIMES)
