"""Moves inputs into a corpus: pack_corpus.py SOURCE CORPUS

Archives are deflated on the way, where that makes them smaller: readers see the same records.
"""
import io
import pathlib
import sys
import zipfile


def packed(content):
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as old:
            records = [(info.filename, old.read(info)) for info in old.infolist()]
    except Exception:  # Damaged on purpose.
        return content
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for name, data in records:
            new.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return min(content, buffer.getvalue(), key=len)


def main():
    source, corpus = map(pathlib.Path, sys.argv[1:])
    corpus.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        (corpus / path.name).write_bytes(packed(path.read_bytes()))


if __name__ == "__main__":
    main()
