"""The one exception of the package."""


class Error(ValueError):
    """Bad input: where, what was found, what was wanted, and what to do next."""
