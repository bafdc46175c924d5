"""The smallest program that is still wrong."""
import ast
import copy
import re
from collections.abc import Iterator

from children import Verdict, verdicts


def shrunk(text: str, verdict: Verdict) -> str:
    """Drops statements, one after the other, while the program's verdict stays of the same kind."""
    tree, is_smaller = ast.parse(text), True
    while is_smaller:
        is_smaller = False
        candidates = list(_smaller(tree))
        said = verdicts([ast.unparse(candidate) for candidate in candidates])
        for candidate, found in zip(candidates, said, strict=True):
            if _alike(found, verdict):
                tree, is_smaller = candidate, True
                break
    return ast.unparse(tree)


def _alike(one: Verdict, other: Verdict) -> bool:
    return one.state == other.state and _sign(one) == _sign(other)


def _sign(verdict: Verdict) -> str:
    """What differs, without by how much; of an error its words without numbers and place."""
    return re.sub(r"\d+", "#", verdict.what.split(":")[0] if verdict.state == "wrong" else verdict.what.split(" at `")[0])


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    named = (getattr(node, name, None) for node in ast.walk(tree) for name in ("body", "orelse"))
    return [body for body in named if isinstance(body, list) and body]


def _smaller(tree: ast.Module) -> Iterator[ast.Module]:
    """Without one statement each, the largest first."""
    sites = [(-len(ast.unparse(statement)), i, j) for i, body in enumerate(_bodies(tree)) for j, statement in enumerate(body)]
    for _, i, j in sorted(sites):
        candidate = copy.deepcopy(tree)
        body = _bodies(candidate)[i]
        if len(body) > 1 or body is candidate.body:
            del body[j]
        elif isinstance(body[0], ast.Pass):
            continue
        else:
            body[0] = ast.Pass()
        yield candidate
