"""Inputs of a simulation: numbers, functions and controllers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, Union

from ._calls import Array, number, numbers
from ._errors import InputError

if TYPE_CHECKING:
    import numpy as np
else:
    from ._numpy import np


Inputs = Union[Mapping[str, Any], None]
Controller = Union[Callable[[float, Array], Any], None]


class Control:
    """What fills the inputs of a run: called by C++ at every instant of its rate with the time, the outputs and the
    inputs as the study has them."""

    def __init__(
        self,
        inputs: Mapping[str, Any] | None,
        controller: Any,
        rate: float | None,
        outputs: Sequence[str] | None,
    ) -> None:
        self._given = dict(inputs or {})
        self._controller = controller
        self._act: Callable[[float, Array], Any] | None = None
        if controller is not None:
            if not callable(controller):
                raise InputError("controller: expected a function or object that is called with (t, y) and gives the inputs")
            self._act = controller
        if outputs is not None and (isinstance(outputs, str) or not all(isinstance(one, str) for one in outputs)):
            raise InputError("outputs: expected a list of names of sensors or their columns")
        self._outputs = None if outputs is None else list(outputs)
        if rate is None:
            raise InputError(
                "rate: is missing: how often per second the inputs are said anew; they are held in between"
            )
        self.period = 1 / _positive(rate, "rate")

    def begin(self, columns: list[str], at_once: list[bool], inputs: list[str]) -> None:
        """The names, before the first call; `at_once`: whether a column depends on the inputs of the same time."""
        self._inputs = inputs
        self._columns = columns
        for name in self._given:
            if name not in inputs:
                raise InputError(f"inputs: there is no input '{name}'; there are: {', '.join(inputs)}")
        self._seen: list[int] | None = None
        if self._outputs is not None:
            self._seen = []
            for name in self._outputs:
                found = [i for i, column in enumerate(columns) if column == name or column.startswith(name + ".")]
                if not found:
                    raise InputError(f"outputs: there is no '{name}'; there are: {', '.join(columns) or 'none'}")
                self._seen += found
        for name, value in self._given.items():
            if not callable(value):
                continue
            # a controller sees what was measured before it acts; a function is meant at the same time
            for i in range(len(columns)) if self._seen is None else self._seen:
                if at_once[i]:
                    raise InputError(
                        f"inputs: '{name}' is a function of (t, y), and y has '{columns[i]}', which depends on what "
                        f"the input does at the same time; name the others in outputs=[...], or give a controller, "
                        f"which sees what was measured just before"
                    )
        start = getattr(self._controller, "begin", None)
        if callable(start):
            start(columns if self._seen is None else [columns[i] for i in self._seen], inputs)

    def __call__(self, t: float, y: Array, u: Array, k: int) -> Array:
        """Inputs at the k-th instant; u as the study has them, NaN where it says nothing."""
        seen = y if self._seen is None else y[self._seen]
        for name, value in self._given.items():
            i = self._inputs.index(name)
            if callable(value):
                u[i] = self._number(value(t, seen), name, t)
            else:
                u[i] = value[k] if k < len(value) else value[-1]
        if self._act is None:
            return u
        said = self._act(t, seen)
        if isinstance(said, Mapping):
            for name, value in said.items():
                if name not in self._inputs:
                    raise InputError(
                        f"the controller gave '{name}' at t = {t:.6g} s, which is no input; there are: "
                        f"{', '.join(self._inputs)}"
                    )
                u[self._inputs.index(name)] = self._number(value, name, t)
            return u
        try:
            values = np.atleast_1d(np.asarray(said, dtype=np.float64))
        except (TypeError, ValueError):
            raise InputError(
                f"the controller gave {type(said).__name__} at t = {t:.6g} s, expected numbers: {', '.join(self._inputs)}"
            ) from None
        if values.shape != (len(self._inputs),):
            raise InputError(
                f"the controller gave {values.size} numbers at t = {t:.6g} s, expected {len(self._inputs)}: "
                f"{', '.join(self._inputs)}"
            )
        return values

    @staticmethod
    def _number(value: Any, name: str, t: float) -> float:
        try:
            return float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"the input '{name}' became {type(value).__name__} at t = {t:.6g} s, expected a number"
            ) from None


def _positive(value: Any, what: str) -> float:
    given = number(value, what)
    if not (given > 0 and math.isfinite(given)):
        raise InputError(f"{what}: is {given:g}, expected a positive number")
    return given


def split(
    inputs: Mapping[str, Any] | None, controller: Any, rate: float | None, outputs: Sequence[str] | None
) -> tuple[dict[str, Any], Control | None]:
    """Inputs that a study can have itself, as settings of [simulate.inputs], and what has to be asked while it runs."""
    settings: dict[str, Any] = {}
    asked: dict[str, Any] = {}
    for name, value in (inputs or {}).items():
        if callable(value):
            asked[name] = value
        elif isinstance(value, (str, Mapping)) or np.ndim(value) == 0:
            settings[f"simulate.inputs.{name}"] = value
        else:
            series = numbers(value, f"inputs.{name}", (None,))
            if not len(series):
                raise InputError(f"inputs.{name}: expected numbers, one for every instant")
            asked[name] = series
    if not asked and controller is None:
        for what, unused in (("rate", rate), ("outputs", outputs)):
            if unused is not None:
                raise InputError(f"{what}: goes with a controller, or with inputs that are functions or arrays")
        return settings, None
    return settings, Control(asked, controller, rate, outputs)
