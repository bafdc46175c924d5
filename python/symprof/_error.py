"""The one exception of the package."""


class Error(ValueError):
    """Bad input: the place, the value, the accepted values, and the next step."""
