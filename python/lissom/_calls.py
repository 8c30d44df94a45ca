"""How every call into C++ is made: progress, warnings, paths and numbers."""

from __future__ import annotations

import functools
import json
import operator
import os
import sys
import warnings as _warnings
import weakref
from typing import TYPE_CHECKING, Any, Callable, Union

from . import _core
from ._errors import InputError, Warning

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
else:
    from ._numpy import np

    Array = Any

Path = Union[str, "os.PathLike[str]"]
Progress = Union[bool, None, Callable[[str, float], object]]


class TemporaryFolder:
    """A folder that goes with the last object that keeps it."""

    def __init__(self) -> None:
        import shutil

        # of a Python that is killed it goes when the next one makes one
        self._folder = _core.PrivateFolder()
        self.name = self._folder.path
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


class Call:
    """One call: ``with Call(progress) as call: _core.f(call.session, ...)``; warnings are told at its end."""

    def __init__(self, progress: Progress = None, processes: bool = False) -> None:
        self.session = _core.Session(progress, program() if processes else "")

    def __enter__(self) -> "Call":
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        if kind is None:
            level = _users_level()
            for text in self.warnings:
                _warnings.warn(text, Warning, stacklevel=level)

    @property
    def warnings(self) -> list[str]:
        """The warnings so far, as the command line prints them."""
        return [text for _, text in self.session.warnings()]


@functools.lru_cache(maxsize=None)
def _program_of(environment: str | None, search: str | None) -> str:
    import shutil
    import subprocess

    folder = os.path.dirname(os.path.abspath(__file__))
    build = os.path.dirname(os.path.dirname(folder))
    found: list[str | None] = [os.path.join(folder, "bin", "lissom")]
    if os.path.exists(os.path.join(build, "CMakeCache.txt")):
        found.append(os.path.join(build, "lissom"))
    # where a wheel puts it
    found.append(os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "lissom"))
    found.append(shutil.which("lissom", path=search))
    if environment:
        found = [environment]
    for one in found:
        if not one or not os.path.isfile(one):
            continue
        # another version would compute otherwise
        try:
            printed = subprocess.run([one, "--version"], capture_output=True, text=True, timeout=60).stdout
        except (OSError, subprocess.SubprocessError):
            continue
        if printed.splitlines()[:1] == _core.versions().splitlines()[:1]:
            return os.path.abspath(one)
    return ""


def program() -> str:
    """The program lissom of the same version, for processes of their own: $LISSOM_PROGRAM, or beside the package or
    Python, or on the path. An empty text where there is none; then everything is computed in this process."""
    return _program_of(os.environ.get("LISSOM_PROGRAM"), os.environ.get("PATH"))


def _users_level() -> int:
    """How many calls above __exit__ the package was called from."""
    folder = os.path.dirname(os.path.abspath(__file__))
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == folder:
        frame = frame.f_back
        level += 1
    return level


def path(value: Path, what: str) -> str:
    """A path as text."""
    try:
        text = os.fspath(value)
    except TypeError:
        raise InputError(f"{what}: expected a path, found {type(value).__name__}") from None
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    if not text:
        raise InputError(f"{what}: is empty, expected a path")
    if "\0" in text:
        raise InputError(f"{what}: a path cannot contain a null character")
    return text


def optional_path(value: Path | None, what: str) -> str | None:
    """A path as text, or None."""
    return None if value is None else path(value, what)


def number(value: Any, what: str) -> float:
    """A finite number."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected a number, found {value!r}") from None
    if not np.isfinite(result):
        raise InputError(f"{what}: is {result}, expected a finite number")
    return result


def integer(value: Any, what: str) -> int:
    """An integer that fits into 32 bits."""
    try:
        result = operator.index(value)
    except TypeError:
        raise InputError(f"{what}: expected an integer, found {value!r}") from None
    if not -(2**31) <= result < 2**31:
        raise InputError(f"{what}: {result} is too large")
    return result


def text(value: Any, what: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a text, found {type(value).__name__}")
    return value


def texts(value: Any, what: str) -> list[str]:
    """A list of texts; one text counts as a list of one."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    try:
        return [text(one, what) for one in value]
    except TypeError:
        raise InputError(f"{what}: expected texts, found {type(value).__name__}") from None


def numbers(value: Any, what: str, shape: tuple[int | None, ...]) -> Array:
    """An array of finite float64; None in the shape means any length."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError
        array = np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected numbers, found {_kind(value)}") from None
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape)):
        raise InputError(f"{what}: expected an array of shape {_shape(shape)}, found {_shape(array.shape)}")
    if not np.all(np.isfinite(array)):
        raise InputError(f"{what}: has a number that is not finite")
    return array


def integers(value: Any, what: str, dimensions: int) -> NDArray[np.int64]:
    """An array of int64 with so many dimensions."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{what}: expected integers, found {_kind(value)}") from None
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"{what}: expected integers, found {_kind(value)}")
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise InputError(f"{what}: {array.max()} is too large")
    if array.ndim != dimensions:
        raise InputError(f"{what}: expected {dimensions} dimensions, found an array of shape {_shape(array.shape)}")
    return np.ascontiguousarray(array, dtype=np.int64)


def parsed(text: str) -> dict[str, Any]:
    """A summary of C++ as a dict."""
    result: dict[str, Any] = json.loads(text) if text else {}
    return result


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return type(value).__name__


def _shape(shape: tuple[int | None, ...]) -> str:
    inner = ", ".join("n" if n is None else str(n) for n in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"
