"""Exceptions and warnings of the package. Their texts are those of the command line."""


class Error(RuntimeError):
    """A computation did not succeed although its input was well-formed (exit code 1 of the command line)."""


class InputError(Error, ValueError):
    """The input is wrong: a missing file, an unknown key, an array of the wrong shape (exit code 2)."""


class Warning(UserWarning):
    """Something was changed, dropped or guessed; see ``warnings`` of the result as well."""
