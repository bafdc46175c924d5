"""Single calls and first uses, each measured alone."""
