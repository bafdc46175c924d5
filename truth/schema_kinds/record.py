#!/usr/bin/env python3
"""Writes schema_kinds.json beside it: the members of the unions of torch.export's schema.

Usage: python truth/schema_kinds/record.py     (the packages of requirements-models.txt)
"""
import json
import pathlib

from torch._export.serde import schema

UNIONS = ("Argument", "OptionalTensorArgument", "SymIntArgument", "SymFloatArgument",
          "SymBoolArgument", "InputSpec", "OutputSpec", "ConstantValue")

kinds = {name: sorted(getattr(schema, name).__annotations__) for name in UNIONS}
kinds["version"] = list(schema.SCHEMA_VERSION)
path = pathlib.Path(__file__).resolve().parent / "schema_kinds.json"
path.write_text(json.dumps(kinds, indent=1) + "\n")
