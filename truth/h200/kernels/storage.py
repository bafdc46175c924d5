"""Files of the record. While recording: JSON lines, one gzip member per flush, so that a stopped
command loses only what it had not flushed. When done: columns, one gzip-compressed JSON document."""
import gzip
import json
import pathlib
import zlib


def append(path, rows):
    """Adds rows as one gzip member: a member is there whole or is dropped by `rows`."""
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    with open(path, "ab") as file:
        file.write(gzip.compress(text.encode(), mtime=0))


def rows(path):
    """The rows of every whole member; a last one cut short by a kill is dropped."""
    data, result = pathlib.Path(path).read_bytes(), []
    while data:
        reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            text = reader.decompress(data)
        except zlib.error:
            break
        if not reader.eof:
            break
        result += [json.loads(line) for line in text.decode().splitlines()]
        data = reader.unused_data
    return result


def rows_in(folders, name):
    result = []
    for folder in folders:
        path = pathlib.Path(folder) / name
        if path.exists():
            result += rows(path)
    return result


def write_document(path, document):
    text = json.dumps(document, separators=(",", ":"), sort_keys=True)
    pathlib.Path(path).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def read_document(path):
    return json.loads(gzip.decompress(pathlib.Path(path).read_bytes()))


def columns(table):
    """Rows with equal keys as {key: list of values}."""
    return {key: [row[key] for row in table] for key in (table[0] if table else ())}


def table(named_columns):
    """The reverse of `columns`."""
    return [dict(zip(named_columns, values)) for values in zip(*named_columns.values())]
