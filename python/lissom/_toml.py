"""Dicts as TOML: what a study in memory becomes, so that its keys are read as those of a file are."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Mapping

from ._errors import InputError

if TYPE_CHECKING:
    import numpy as np
else:
    from ._numpy import np

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def key(name: Any, where: str) -> str:
    """A key, quoted where that is needed."""
    if not isinstance(name, str):
        raise InputError(f"{where or 'study'}: the key {name!r} is no text")
    return name if _BARE.match(name) else json.dumps(name)


_DEEPEST = 60


def value(given: Any, where: str, depth: int = 0) -> str:
    """Numbers, texts, booleans, lists, arrays and dicts on one line."""
    if depth > _DEEPEST:
        raise InputError(f"{where[:60]} ...: is nested too deeply, or contains itself")
    if isinstance(given, np.ndarray):
        given = given.tolist()
    elif isinstance(given, np.generic):
        given = given.item()
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int):
        if not -(2**63) <= given < 2**63:
            raise InputError(f"{where}: {given} is too large")
        return str(given)
    if isinstance(given, float):
        if not np.isfinite(given):
            raise InputError(f"{where}: is {given}, expected a finite number")
        text = repr(given)
        return text if any(c in text for c in ".en") else text + ".0"
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if isinstance(given, str):
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(given, Mapping):
        inner = ", ".join(
            f"{key(k, where)} = {value(v, f'{where}.{k}', depth + 1)}" for k, v in given.items() if v is not None
        )
        return "{ " + inner + " }" if inner else "{}"
    if isinstance(given, (list, tuple)):
        return "[" + ", ".join(value(v, where, depth + 1) for v in given) + "]"
    raise InputError(
        f"{where}: expected a number, a text, a boolean, a list or a dict, found {type(given).__name__}"
    )


def _is_tables(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and len(given) > 0 and all(isinstance(v, Mapping) for v in given)


def write(table: Mapping[str, Any], path: str = "", depth: int = 0) -> str:
    """A dict as TOML text: plain keys first, then tables, then lists of tables. None leaves a key out."""
    if depth > _DEEPEST:
        raise InputError(f"{path[:60]} ...: is nested too deeply, or contains itself")
    if not isinstance(table, Mapping):
        raise InputError(f"{path or 'study'}: expected a dict, found {type(table).__name__}")
    lines: list[str] = []
    later: list[str] = []
    for name, given in table.items():
        if given is None:
            continue
        full = f"{path}.{key(name, path)}" if path else key(name, path)
        if isinstance(given, Mapping):
            later.append(f"\n[{full}]\n{write(given, full, depth + 1)}")
        elif _is_tables(given):
            later.extend(f"\n[[{full}]]\n{write(one, full, depth + 1)}" for one in given)
        else:
            lines.append(f"{key(name, path)} = {value(given, full)}\n")
    return "".join(lines + later)


def settings(given: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Keys that are set otherwise, as --set takes them."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise InputError(f"set: expected a dict of keys and values, found {type(given).__name__}")
    pairs = []
    for name, one in given.items():
        if not isinstance(name, str) or not name:
            raise InputError(f"set: the key {name!r} is no text")
        pairs.append((name, value(one, f"set: {name}")))
    return pairs
