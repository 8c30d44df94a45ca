"""Reduced mechanisms as ordinary differential equations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from . import _core, _toml
from ._calls import Array, Call, Path, Progress, integer, numbers, optional_path, parsed, path, text
from ._errors import InputError
from ._results import FrequencyResponse, Linearisation, Run, Sensors
from ._control import Controller, Inputs, split
from ._study import Study, _linearise, _MechanismInput, _response, _simulate, _static, _StudyInput, _with_settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    from ._numpy import np


class Rom:
    """A mechanism reduced as a whole: x' = f(t, x, u), y = h(t, x, u), in SI units. x (n,) are the coordinates and their
    rates, n = 2 m; of a linear model its states.

    ``Rom("model.rom.h5")`` reads what ``lissom train`` wrote, SLAP, parametric (POD) or linear; loads and sensors are
    those of the study in it. SciPy's integrators take it as it is::

        solve_ivp(rom.rhs, (0, 0.2), rom.x0, jac=rom.jac, method="Radau", rtol=1e-8)

    set : keys of its study, or parameters of a parametric model, set otherwise.
    case : a case of the study. strict : refuse parameters outside of what was trained.
    """

    def __init__(
        self,
        file: Path,
        set: Mapping[str, Any] | None = None,
        *,
        case: str | None = None,
        strict: bool = False,
        progress: Progress = None,
    ) -> None:
        main: _StudyInput = (path(file, "file"), None, _toml.settings(set))
        if main[0].lower().endswith(".toml"):
            raise InputError(f"{main[0]}: is a study, expected a .rom.h5 file, which 'lissom train' writes")
        self._open((main, None, "" if case is None else text(case, "case"), bool(strict)), progress)
        self._keep: Any = None

    def _open(self, mechanism: _MechanismInput, progress: Progress) -> None:
        self._mechanism = mechanism
        with Call(progress) as call:
            self._ode = _core.make_ode(call.session, mechanism)
            self.warnings: list[str] = call.warnings
            """as the command line prints them"""

    @property
    def file(self) -> str:
        """The model's file."""
        return self._mechanism[0][0]

    @property
    def method(self) -> str:
        """"slap", "pod" or "linear"."""
        return self._ode.method()

    @property
    def order(self) -> int:
        """m, the number of coordinates; of a linear model that of its states."""
        return self._ode.order()

    @property
    def x0(self) -> Array:
        """(n,): the state at the start."""
        return self._ode.x0()

    @property
    def break_times(self) -> list[float]:
        """Times at which loads have a kink or a jump [s]: integrate piece by piece for high orders."""
        return self._ode.break_times()

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs, in the order of u (p,): the inputs of loads. A linear model has the loads before them, each
        by its size along its own direction [N, N m]."""
        return self._ode.inputs()

    def inputs_at(self, t: float) -> Array:
        """What the study says that u (p,) is at a time."""
        return self._ode.inputs_at(t)

    def rhs(self, t: float, x: Any, u: Any = None) -> Array:
        """f(t, x, u): x (n,) or (n, k), the result has its shape. u (p,): inputs; None: as the study says them."""
        return self._ode.rhs(t, _states(x), _inputs(u))

    def jac(self, t: float, x: Any, u: Any = None) -> Array:
        """df/dx, exact, (n, n)."""
        return self._ode.jac(t, _states(x), _inputs(u))

    def input_matrix(self, t: float, x: Any) -> Array:
        """df/du, exact, (n, p): f is linear in u."""
        return self._ode.input_matrix(t, _states(x))

    def linearise_at(self, x: Any, u: Any = None, t: float = 0.0) -> tuple[Array, Array, Array, Array]:
        """A = df/dx, B = df/du, C = dh/dx, D = dh/du at a state. A and B are exact; C and D are of linear models, otherwise
        they are central differences (about nine digits)."""
        return self._ode.linearise(t, _states(x), _inputs(u))

    @property
    def A(self) -> Array:
        """(n, n) of a linear model: x' = A x + B (u - u0)."""
        return self._matrices()[0]

    @property
    def B(self) -> Array:
        """(n, p) of a linear model."""
        return self._matrices()[1]

    @property
    def C(self) -> Array:
        """(columns, n) of a linear model: y = y0 + C x + D (u - u0)."""
        return self._matrices()[2]

    @property
    def D(self) -> Array:
        """(columns, p) of a linear model."""
        return self._matrices()[3]

    def _matrices(self) -> tuple[Array, Array, Array, Array]:
        if self.method != "linear":
            raise InputError(
                f"{self.file}: is a {self.method} model, whose matrices depend on the state: linearise_at(x, u)"
            )
        return self._ode.linearise(0.0, self._ode.x0(), None)

    def step(self, x: Any, u: Any, h: float) -> Array:
        """Of a linear model: the state h seconds after x (n,) under inputs u (p,) that are held. Exact for any h; the
        same h is prepared once."""
        return self._ode.step(_states(x), np.atleast_1d(_states(u)), float(h))

    def outputs(self, t: float, x: Any, u: Any = None) -> Array:
        """y = h(t, x, u), the sensors' columns in SI units, turns of angles counted from the start: x (n,) gives
        (columns,), x (n, k) gives (columns, k)."""
        states = _states(x)
        values = self._ode.sensors(np.full(states.shape[1] if states.ndim == 2 else 1, float(t)), states, _inputs(u))
        return values if states.ndim == 2 else values[:, 0]

    @property
    def mass_matrix(self) -> Array:
        """(m, m) at the start; of a SLAP model the same everywhere. A linear model has none."""
        return self._ode.mass(0.0, self._ode.x0())

    @property
    def columns(self) -> list[str]:
        """Names of the sensors' columns."""
        return self._ode.columns()

    def sensors(self, t: Any, x: Any) -> Sensors:
        """Sensors by column at times t (k,) and states x (n, k), as solve_ivp returns them, in the order of time; of
        one time and one state columns have one sample."""
        states = _states(x)
        times = np.atleast_1d(numbers(t, "t", (None,) if np.ndim(t) == 1 else ()))
        values = self._ode.sensors(times, states, None)
        return Sensors(self._ode.columns(), self._ode.units(), values.T)

    def nodes(self, x: Any) -> dict[str, Array]:
        """Positions of the nodes of every part at a state x (2 m,): (nodes, 3) [m]; empty of a model without them."""
        return {name: positions for name, _, positions in self._ode.nodes(_states(x))}

    def node_ids(self) -> dict[str, NDArray[np.int64]]:
        """Numbers of these nodes, by part."""
        return {name: ids for name, ids, _ in self._ode.nodes(self._ode.x0())}

    def distance_from_training(self, x: Any) -> Any:
        """0 at a state of the training, 1 as far away as these are from each other at most; beyond 3 the model is not
        to be trusted. Of x (2 m,) a number, of (2 m, k) an array (k,). InputError where the model does not know."""
        if not self._ode.has_training():
            raise InputError(f"{self.file}: the model does not know where it was trained")
        distances = self._ode.distance(_states(x))
        return float(distances[0]) if np.ndim(x) == 1 else distances

    def with_study(self, study: Study | Path | Mapping[str, Any], *, case: str | None = None) -> "Rom":
        """The same model with loads, sensors and [simulate] of another study."""
        given = self._study_input(study)
        rom = Rom.__new__(Rom)
        rom._keep = (self._keep, study)
        rom._open((self._mechanism[0], given, "" if case is None else text(case, "case"), self._mechanism[3]), None)
        return rom

    @staticmethod
    def _study_input(study: Study | Path | Mapping[str, Any]) -> _StudyInput:
        if isinstance(study, Study):
            return study._input
        if isinstance(study, Mapping):
            return (os.path.join(".", "study.toml"), _toml.write(study), [])
        return (path(study, "study"), None, [])

    def simulate(
        self,
        out: Path | None = None,
        *,
        set: Mapping[str, Any] | None = None,
        resume: bool = False,
        view: bool = False,
        inputs: Inputs = None,
        controller: Controller = None,
        rate: float | None = None,
        outputs: Sequence[str] | None = None,
        progress: Progress = None,
    ) -> Run:
        """Simulates with Lissom's own integrators, as [simulate] of the study says.

        set : keys of the study, ``{"simulate.end": 0.1}``. out : folder for the files; None writes nothing.
        inputs, controller, rate, outputs : as of Study.simulate.
        """
        settings, control = split(inputs, controller, rate, outputs)
        mechanism = _with_settings(self._mechanism, {**(set or {}), **settings})
        return _simulate(mechanism, out, resume, 5.0, view, progress, control)

    def linearise(
        self, at: float | None = None, static: bool = False, *, out: Path | None = None, progress: Progress = None
    ) -> Linearisation:
        """As Study.linearise."""
        return _linearise(self._mechanism, at, static, out, progress)

    def response(
        self,
        lowest: float | None = None,
        highest: float | None = None,
        points: int | None = None,
        *,
        linear: bool | None = None,
        inputs: str | Sequence[str] | None = None,
        outputs: str | Sequence[str] | None = None,
        at: float | None = None,
        static: bool = False,
        out: Path | None = None,
        progress: Progress = None,
    ) -> FrequencyResponse:
        """As Study.response."""
        return _response(
            self._mechanism, lowest, highest, points, linear, inputs, outputs, at, static, out, progress
        )

    def static(self, at: float = 0.0, *, out: Path | None = None, progress: Progress = None) -> Run:
        """As Study.static."""
        return _static(self._mechanism, at, out, progress)

    def export(
        self,
        *,
        c: Path | None = None,
        fmu: Path | None = None,
        fmi: int = 3,
        name: str | None = None,
        single_precision: bool = False,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Writes the model as a program that needs nothing of Lissom, with the loads, sensors and step of its study.

        c : folder for C99 sources and a program that checks them; single_precision: in float (linear models only).
        fmu : file of a functional mock-up unit; fmi: version of the standard, 2 or 3.
        name : of the model in the program; made from its title unless given.
        Returns what ``lissom export --json`` prints: files, inputs, outputs, parameters, platforms.
        """
        with Call(progress) as call:
            summary, _ = _core.export_model(
                call.session,
                self._mechanism,
                optional_path(c, "c"),
                optional_path(fmu, "fmu"),
                integer(fmi, "fmi"),
                "" if name is None else text(name, "name"),
                bool(single_precision),
            )
            return parsed(summary)

    def __repr__(self) -> str:
        return f"<lissom.Rom {self.file!r}: order {self.order}>"


def _inputs(u: Any) -> Array | None:
    return None if u is None else np.atleast_1d(_states(u))


def _states(x: Any) -> Array:
    # solve_ivp calls this a thousand times: no more checks than needed
    if isinstance(x, np.ndarray) and x.dtype == np.float64:
        return x
    array = np.asarray(x)
    if array.dtype.kind not in "fiub":
        raise InputError(f"x: expected numbers, found {array.dtype}")
    return array.astype(np.float64)
