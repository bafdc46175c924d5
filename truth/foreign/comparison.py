"""What symprof says of the files that run.py made, beside what PyTorch said: figures, and how far they are apart."""
import collections
import json
import subprocess

OPTIONS = {"fp32": [], "bf16": ["--dtype", "bf16"], "autocast": ["--autocast", "bf16"],
           "inference": ["--mode", "inference"]}
TRAINING = ("fp32", "bf16", "autocast")
EXACT = {"fwd_flops": "forward FLOPs", "bwd_flops": "backward FLOPs", "saved_bytes": "saved"}
CLOSE = {"fp32": 0.005, "bf16": 0.005, "autocast": 0.005, "inference": 0.05}


def read(folder, name, stage):
    path = folder / f"{name}.{stage}.json"
    return json.loads(path.read_text()) if path.exists() else {"failed": "not tried"}


def profile(binary, path, options):
    """{figure: value} and the warnings, or {"error": the first line}."""
    command = [binary, "profile", str(path), "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip() or f"ended with status {done.returncode}"
        return {"error": said.splitlines()[0].replace(str(path.parent) + "/", "")}
    found = json.loads(done.stdout)
    if found["coverage"]["unmodelled"]:
        return {"error": "calls without a rule: " + ", ".join(found["coverage"]["unmodelled_ops"])}
    totals = {figure: found["totals"][figure] for figure in EXACT}
    memory = found["memory"]
    return {**totals, "peak_bytes": found["totals"]["peak_tensor_bytes"], "warnings": found["warnings"],
            "at_least": memory["peak_is_lower_bound"], "doubt_bytes": memory["peak_doubt_bytes"],
            "most_bytes": memory["peak_doubt_most_bytes"], "because": memory["peak_doubt_because"],
            "about": memory["peak_is_estimate"], "about_because": memory["peak_estimate_because"],
            "weights_bytes": memory["at_peak"]["parameters"] + memory["at_peak"]["buffers"],
            "forward": dict(forward_calls(found))}


def forward_calls(found):
    """How often the forward pass calls each operator that is more than a view."""
    return collections.Counter(call["op"] for node in found["nodes"] for call in node.get("calls", ())
                               if call["phase"] == "forward" and call["bytes_written"])


def same(ours, theirs):
    return all(ours[figure] == theirs[figure] for figure in EXACT if figure in theirs)


def reference(folder, name, file_format, step, ours):
    """The eager module's figures; those of the file's program, where that is another one and ours are its, or alone has
    some. With them "program_peak_bytes" where the program has our FLOPs and saved bytes."""
    of_module = read(folder, name, step)
    if "error" in ours or step == "inference":
        return of_module, "module"
    of_program = read(folder, name, f"{'trace' if suffix_of(file_format) == 'pt' else 'program'}_{step}")
    if "failed" in of_program:
        return of_module, "module"
    if same(ours, of_program):
        of_module = {**of_module, "program_peak_bytes": of_program.get("peak_bytes")}
    if "failed" not in of_module and same(ours, of_module):
        return of_module, "module"
    found = {**of_program, **{key: of_module.get(key) for key in ("peak_bytes", "program_peak_bytes")}}
    if "failed" in of_module:
        return found, "program alone"
    return (found, "program") if same(ours, of_program) else (of_module, "module")


def suffix_of(file_format):
    return file_format.partition("_")[0]


def note_of(file_format):
    return ", Python" if file_format == "pt_python" else ""


def label_of(file_format):
    return suffix_of(file_format) + note_of(file_format)


def compared(folder, binary, name, file_format, known, sources):
    """The figures of a file in each setting; `known` are those that are there already."""
    made = read(folder, name, suffix_of(file_format))
    path = folder / f"{name}.{suffix_of(file_format)}"
    if "failed" in made or not path.exists():
        return {"not_exported": made.get("failed", "no file")}
    result = {"bytes": path.stat().st_size}
    for step, options in OPTIONS.items():
        if file_format == "pt_python":
            options = [*options, *(part for source in sources for part in ("--python-sources", source))]
        ours = known[step]["ours"] if step in known else profile(binary, path, options)
        theirs, whose = reference(folder, name, file_format, step, ours)
        if "error" not in ours and whose == "module" and step in TRAINING and not same(ours, theirs):
            ours, theirs, whose = as_exported(folder, binary, path, options, name, file_format, step, ours)
        kept = (*EXACT, "peak_bytes", "program_peak_bytes", "failed")
        theirs = {key: value for key, value in theirs.items() if key in kept}
        cell = result[step] = {"ours": ours, "theirs": theirs, "whose": whose}
        if asks_for_last_uses(cell, step):
            ours["last_use_peak_bytes"] = profile(binary, path, [*options, "--lifetimes", "last-use"])["peak_bytes"]
    return result


def as_exported(folder, binary, path, options, name, file_format, step, ours):
    """The figures of the file's own program, as `--lifetimes last-use` has it, where those are PyTorch's of it: masks that
    the module leaves out are in it. What is `ours` where they are not."""
    program = profile(binary, path, [*options, "--lifetimes", "last-use"])
    if "error" not in program:
        theirs, whose = reference(folder, name, file_format, step, program)
        if whose != "module":
            return program, theirs, whose
    return ours, *reference(folder, name, file_format, step, ours)


def asks_for_last_uses(cell, step):
    """PyTorch ran the file's program with each value dropped at its last use: no other peak can be compared with that."""
    return (cell["whose"] != "module" and "program_peak_bytes" in cell["theirs"] and not is_close(cell, step)
            and "last_use_peak_bytes" not in cell["ours"])


def relative(cell, whose="peak_bytes"):
    """How far the peak is from the module's (or the program's); None where there is none."""
    return cell["ours"]["peak_bytes"] / cell["theirs"][whose] - 1 if cell["theirs"].get(whose) else None


def is_close(cell, step, whose="peak_bytes"):
    return relative(cell, whose) is not None and abs(relative(cell, whose)) <= CLOSE[step]


def is_close_to_program(cell, step):
    """Close to the peak of the file's program, where that is another one than the module: as Python's frames hold its
    values, or with `--lifetimes last-use`."""
    if is_close(cell, step, "program_peak_bytes"):
        return True
    at_last_use, theirs = cell["ours"].get("last_use_peak_bytes"), cell["theirs"].get("program_peak_bytes")
    return bool(at_last_use and theirs) and abs(at_last_use / theirs - 1) <= CLOSE[step]


def is_said_low(cell, step):
    """Too low, and said to be a lower bound."""
    found = relative(cell)
    return found is not None and found < -CLOSE[step] and cell["ours"]["at_least"]


def is_said_about(cell, step):
    """Too high, in training too low as well, and said to be that of the file's calls alone."""
    found = relative(cell)
    return (found is not None and not is_close(cell, step) and (found > 0 or step in TRAINING) and not is_said_low(cell, step)
            and cell["ours"]["about"])


def differences(cell, step):
    """{figure: text}, empty where all is as PyTorch says."""
    ours, theirs, found = cell["ours"], cell["theirs"], {}
    for figure, word in EXACT.items():
        if step != "inference" and ours[figure] != theirs[figure]:
            found[figure] = f"{word} {ours[figure] - theirs[figure]:+,}".replace(",", " ")
    if is_close(cell, step) or is_close_to_program(cell, step):
        return found
    if relative(cell) is None:
        whose = "program_peak_bytes"
        if relative(cell, whose) is not None:
            found["peak_bytes"] = f"peak {100 * relative(cell, whose):+.1f} % of its program's"
        return found
    found["peak_bytes"] = f"peak {100 * relative(cell):+.1f} %" + (
        ", at least" if is_said_low(cell, step) else ", about" if is_said_about(cell, step) else "")
    return found
