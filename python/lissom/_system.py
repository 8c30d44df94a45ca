"""Mechanisms built in code."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from . import _toml
from ._bodies import Body, ReducedBody
from ._calls import Path, Progress, TemporaryFolder, path, text
from ._control import Controller, Inputs
from ._errors import InputError
from ._results import FrequencyResponse, Linearisation, Run, Training
from ._study import Study


class System:
    """A mechanism, body by body, joint by joint, with the keys of study files.

    gravity : [gx, gy, gz] in the system's units. units : of all numbers ("SI", "mm-t-s", ...); bodies that are given as
    objects are in SI units themselves. folder : what names of files are relative to.

    Bodies in memory are kept in a temporary folder as long as the system and the studies made from it live.
    """

    def __init__(
        self,
        gravity: Sequence[float] | None = None,
        units: str = "SI",
        title: str = "system",
        *,
        folder: Path = ".",
    ) -> None:
        self._title = text(title, "title")
        self._units = text(units, "units")
        self._gravity = gravity
        self._folder = path(folder, "folder")
        self._bodies: dict[str, dict[str, Any]] = {}
        self._joints: list[dict[str, Any]] = []
        self._loads: list[dict[str, Any]] = []
        self._sensors: list[dict[str, Any]] = []
        self._temporary: Any = None

    def add_body(
        self, name: str, body: Body | ReducedBody | Path, formulation: str | None = None, **keys: Any
    ) -> "System":
        """A flexible body: a Body (with ``reduce={...}`` among the keys), a ReducedBody, or a file (mesh, .body.h5,
        .reduced.h5). Keys are those of ``[bodies.NAME]``: formulation ("ffrf", "fncf", "gcms", "rigid"), position,
        rotation, velocity, angular_velocity, ..."""
        self._new_body(name)
        table: dict[str, Any] = {}
        if isinstance(body, (Body, ReducedBody)):
            if self._temporary is None:
                self._temporary = TemporaryFolder()
            kind = "body" if isinstance(body, Body) else "reduced"
            file = os.path.join(self._temporary.name, f"{len(self._bodies)}.{kind}.h5")
            body.save(file)
            table[kind] = file
        else:
            file = os.path.join(os.path.abspath(self._folder), path(body, "body"))
            kind = "mesh"
            for ending, key in ((".body.h5", "body"), (".reduced.h5", "reduced")):
                if file.endswith(ending):
                    kind = key
            table[kind] = file
        self._bodies[name] = {**table, "formulation": formulation, **keys}
        return self

    def add_rigid_body(
        self,
        name: str,
        mass: float,
        inertia: Any,
        center: Sequence[float] | None = None,
        points: Mapping[str, Any] | None = None,
        **keys: Any,
    ) -> "System":
        """A rigid body of numbers: mass, moments of inertia about the centre of mass ([Ixx, Iyy, Izz] or with Ixy, Iyz,
        Izx), centre of mass in the body's frame, named points. Other keys as of add_body."""
        self._new_body(name)
        rigid = {"mass": mass, "center": [0, 0, 0] if center is None else center, "inertia": inertia}
        self._bodies[name] = {"formulation": "rigid", "rigid": rigid, "points": points, **keys}
        return self

    def add_beam(self, name: str, start: Any, end: Any, elements: int, **keys: Any) -> "System":
        """A beam in absolute nodal coordinates (ANCF) from a point to another; keys: section, young, density, ..."""
        self._new_body(name)
        self._bodies[name] = {"formulation": "ancf", "from": start, "to": end, "elements": elements, **keys}
        return self

    def add_joint(self, name: str, kind: str, between: Sequence[str], **keys: Any) -> "System":
        """A joint between two places, "BODY.INTERFACE", "BODY.POINT" or "ground"; keys: at, axis, motion, ..."""
        if not isinstance(between, (list, tuple)):
            raise InputError(f"joints.{name}.between: expected two places, found {type(between).__name__}")
        self._joints.append({"name": name, "kind": kind, "between": list(between), **keys})
        return self

    def add_load(self, name: str, kind: str, **keys: Any) -> "System":
        """A load; keys: on or between, force, torque, factor (a number, an expression of t, a table), stiffness, ..."""
        for key, given in keys.items():
            if callable(given):
                raise InputError(
                    f"loads.{name}.{key}: is a Python function, which cannot be differentiated exactly; give an "
                    'expression of t, "5 * sin(10 * t)", or a table of values'
                )
        self._loads.append({"name": name, "kind": kind, **keys})
        return self

    def add_sensor(self, name: str, kind: str, of: str | None = None, **keys: Any) -> "System":
        """A sensor: what is measured ("position", "reaction", "energy", ...) of which place, joint or load."""
        self._sensors.append({"name": name, "kind": kind, "of": of, **keys})
        return self

    def study(
        self,
        *,
        simulate: Mapping[str, Any] | None = None,
        train: Mapping[str, Any] | None = None,
        **tables: Any,
    ) -> Study:
        """The system as a Study; simulate, train and others are its tables of these names."""
        content = {
            "title": self._title,
            "units": self._units,
            "gravity": self._gravity,
            "bodies": self._bodies,
            "joints": self._joints or None,
            "loads": self._loads or None,
            "sensors": self._sensors or None,
            "simulate": simulate,
            "train": train,
            **tables,
        }
        study = Study(content, folder=self._folder)
        study._keep = self._temporary
        return study

    @property
    def text(self) -> str:
        """The system as TOML."""
        return self.study().text

    def simulate(
        self,
        *,
        out: Path | None = None,
        inputs: Inputs = None,
        controller: Controller = None,
        rate: float | None = None,
        outputs: Sequence[str] | None = None,
        progress: Progress = None,
        **keys: Any,
    ) -> Run:
        """Simulates it; keys are those of [simulate]: end, step, sample, integrator, ...

        inputs, controller, rate, outputs : as of Study.simulate.
        """
        study = self.study(simulate=keys)
        return study.simulate(
            out=out, inputs=inputs, controller=controller, rate=rate, outputs=outputs, progress=progress
        )

    def linearise(self, at: float | None = None, static: bool = False, *, progress: Progress = None) -> Linearisation:
        """As Study.linearise; `at` may only be 0 here (a run would be needed otherwise)."""
        return self.study().linearise(at, static, progress=progress)

    def response(self, lowest: float, highest: float, *, progress: Progress = None, **options: Any) -> FrequencyResponse:
        """As Study.response."""
        return self.study().response(lowest, highest, progress=progress, **options)

    def static(self, at: float = 0.0, *, progress: Progress = None) -> Run:
        """As Study.static."""
        return self.study().static(at, progress=progress)

    def train(
        self, simulate: Mapping[str, Any], *, out: Path | None = None, progress: Progress = None, **keys: Any
    ) -> Training:
        """Reduces the whole mechanism on a simulation; keys are those of [train]."""
        return self.study(simulate=simulate, train=keys).train(out=out, progress=progress)

    def _new_body(self, name: str) -> None:
        if text(name, "name") in self._bodies:
            raise InputError(f"there is a body '{name}' already")

    def __repr__(self) -> str:
        return f"<lissom.System {self._title!r}: {', '.join(self._bodies) or 'no bodies'}>"
