"""What computations give: runs, trainings, linearisations, frequency responses, comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Iterator, Mapping

from . import _core
from ._calls import Array, Call, Path, parsed, path, text
from ._errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._rom import Rom
else:
    from ._numpy import np


class Sensors(Mapping[str, Array]):
    """Sensors of a run by column: ``sensors["tip.x"]`` (samples,), ``sensors["tip"]`` (samples, its columns), in SI
    units. ``array`` has all columns, ``units`` the unit of each."""

    def __init__(self, columns: list[str], units: list[str], array: Array) -> None:
        self.columns = columns
        self.units: dict[str, str] = dict(zip(columns, units))
        self.array = array

    def __getitem__(self, name: str) -> Array:
        if name in self.units:
            return self.array[:, self.columns.index(name)]
        group = [i for i, column in enumerate(self.columns) if column.startswith(f"{name}.")]
        if not group:
            raise KeyError(f"{name}; there are: {', '.join(self.columns) or 'none'}")
        return self.array[:, group]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __repr__(self) -> str:
        return f"<lissom.Sensors {', '.join(self.columns)}>"


class Run:
    """The result of a simulation, in SI units; k samples, n coordinates. Arrays are read-only views."""

    def __init__(self, core: _core.RunData, summary: dict[str, Any], text: str, warnings: list[str]) -> None:
        self._core = core
        self.summary = summary
        """what ``lissom simulate --json`` says"""
        self.text = text
        """the same for people"""
        self.warnings = warnings
        """as the command line prints them"""

    @property
    def time(self) -> Array:
        """(k,) [s]"""
        return self._core.time()

    @property
    def sensors(self) -> Sensors:
        """By column: ``run.sensors["tip.x"]`` is (k,)."""
        return Sensors(self._core.columns(), self._core.units(), self._core.sensors())

    @property
    def q(self) -> Array:
        """(k, n) coordinates"""
        return self._core.q()

    @property
    def v(self) -> Array:
        """(k, n) their rates"""
        return self._core.v()

    @property
    def a(self) -> Array:
        """(k, n) their second rates"""
        return self._core.a()

    @property
    def energy(self) -> dict[str, Array]:
        """(k,) each: kinetic, elastic, gravity, springs, total, work_in, dissipated, energy_drift [J] and
        constraint_drift [m]"""
        table = self._core.balance()
        return {name: table[:, i] for i, name in enumerate(self._core.balance_names())}

    @property
    def bodies(self) -> dict[str, dict[str, Any]]:
        """Of each body its formulation and which columns of q belong to it (a slice)."""
        return {
            name: {"formulation": formulation, "coordinates": slice(first, first + count)}
            for name, formulation, first, count in self._core.bodies()
        }

    @property
    def node_bodies(self) -> list[str]:
        """Bodies (or parts of a reduced mechanism) whose nodes are known."""
        return self._core.node_bodies()

    def nodes(self, body: str) -> Array:
        """Positions of a body's nodes, (k, nodes, 3) [m], global axes; of a run that was read those that it wrote."""
        return self._core.nodes(text(body, "body"))[0]

    def node_ids(self, body: str) -> NDArray[np.int64]:
        """Numbers of these nodes."""
        return self._core.nodes(text(body, "body"))[1]

    @property
    def status(self) -> str:
        """"complete"; of a run that was read also "running", "stopped" or "failed"."""
        return self._core.status()

    def __repr__(self) -> str:
        k = len(self.time)
        span = f"{self.time[0]:g} to {self.time[-1]:g} s" if k else "no samples"
        return f"<lissom.Run: {k} samples, {span}, {self.q.shape[1]} coordinates>"


def read_result(file: Path) -> Run:
    """Reads a result.h5, or the one in a folder; also of a run that still goes on or was stopped."""
    with Call() as call:
        core = _core.read_run(call.session, path(file, "file"))
        report, words = core.report()
        return Run(core, parsed(report), words, call.warnings)


@dataclass(frozen=True)
class StudyResult:
    """What ``lissom run`` and ``lissom sweep`` leave."""

    out: str
    """the folder"""
    summary: dict[str, Any]
    """summary.json"""
    text: str
    """for people"""
    report: str | None
    """path of report.html, if it was made"""
    warnings: list[str]
    """as the command line prints them"""

    def read(self, case: str | None = None) -> Run:
        """The simulation of the study, or of one of its cases."""
        import os

        return read_result(self.out if case is None else os.path.join(self.out, text(case, "case")))


@dataclass(frozen=True)
class Training:
    """A mechanism that was reduced as a whole."""

    order: int
    """of the model"""
    singular_values: Array
    """of the training, descending (SLAP; Hankel values of linear models; empty of parametric ones)"""
    summary: dict[str, Any]
    """what ``lissom train --json`` says"""
    text: str
    """for people"""
    file: str
    """the model (.rom.h5); a temporary file where nothing was to be written"""
    warnings: list[str]
    """as the command line prints them"""
    _keep: Any = field(repr=False, default=None)

    @property
    def rom(self) -> "Rom":
        """The model, ready to be integrated."""
        from ._rom import Rom

        rom = Rom(self.file)
        rom._keep = self._keep
        return rom

    def save(self, file: Path) -> None:
        """Copies the model to a file (.rom.h5)."""
        import shutil

        shutil.copyfile(self.file, path(file, "file"))


@dataclass(frozen=True)
class Linearisation:
    """x' = A x + B u, y = C x + D u about a state, in SI units: x the change of d independent coordinates and their
    rates, u that of every load, y that of every sensor. Arrays are read-only views."""

    t: float
    """[s]"""
    q: Array
    """(n,) the state"""
    v: Array
    """(n,)"""
    N: Array
    """(n, d): change of q for a change of the independent coordinates"""
    A: Array
    """(2 d, 2 d)"""
    B: Array
    """(2 d, inputs)"""
    C: Array
    """(outputs, 2 d)"""
    D: Array
    """(outputs, inputs)"""
    states: list[str]
    """names of the 2 d states"""
    inputs: list[str]
    """names of the loads"""
    input_units: list[str]
    """"N" or "N m\""""
    outputs: list[str]
    """columns of the sensors"""
    output_units: list[str]
    """their units"""
    bodies: list[str]
    """names of the bodies"""
    eigenvalues: NDArray[np.complex128]
    """(2 d,) of A [1/s]"""
    frequencies: Array
    """(modes,) ascending [Hz]"""
    damping: Array
    """(modes,) ratios"""
    shapes: NDArray[np.complex128]
    """(n, modes): changes of q, the largest displacement 1 m"""
    growth: float
    """largest real part [1/s]; positive: unstable"""
    moving: bool
    """the state moves or is not in equilibrium: the matrices are those of the moment"""
    summary: dict[str, Any]
    """what ``lissom linearise --json`` says"""
    text: str
    """for people"""
    warnings: list[str]
    """as the command line prints them"""

    @property
    def stable(self) -> bool:
        """whether nothing grows"""
        return self.growth <= 0

    def to_scipy(self) -> Any:
        """As scipy.signal.StateSpace, for lsim and the like. Its freqresp goes by zeros and poles, which fails for more
        than some twenty states: Study.response() does not."""
        import scipy.signal

        return scipy.signal.StateSpace(*(np.array(m) for m in (self.A, self.B, self.C, self.D)))

    def to_control(self) -> Any:
        """As control.StateSpace of python-control, with the names of states, inputs and outputs."""
        try:
            import control
        except ImportError:
            raise ImportError(
                "python-control is not installed: 'apt install python3-control' or 'pip install control'; "
                "to_scipy() needs SciPy only"
            ) from None
        return control.StateSpace(
            *(np.array(m) for m in (self.A, self.B, self.C, self.D)),
            states=_unique(self.states),
            inputs=_unique(self.inputs),
            outputs=_unique(self.outputs),
        )


def _unique(names: list[str]) -> list[str]:
    """python-control wants names without dots, each once."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        plain = name.replace(".", "_")
        seen[plain] = seen.get(plain, 0) + 1
        out.append(plain if seen[plain] == 1 else f"{plain}_{seen[plain]}")
    return out


@dataclass(frozen=True)
class FrequencyResponse:
    """H(j omega) = C (j omega - A)^-1 B + D of a linearised mechanism."""

    frequencies: Array
    """(k,) [Hz]"""
    H: NDArray[np.complex128]
    """(k, outputs, inputs); NaN of pairs that were not asked for"""
    inputs: list[str]
    """names of the loads"""
    outputs: list[str]
    """columns of the sensors"""
    units: dict[tuple[str, str], str]
    """of each (output, input), "m/N\""""
    summary: dict[str, Any]
    """what ``lissom response --json`` says, with the peaks"""
    text: str
    """for people"""
    warnings: list[str]
    """as the command line prints them"""

    def pair(self, output: str, input: str) -> NDArray[np.complex128]:
        """(k,) of one output and one input."""
        if output not in self.outputs or input not in self.inputs:
            raise InputError(
                f"there is no pair of {output!r} and {input!r}; outputs are: {', '.join(self.outputs)}, "
                f"inputs: {', '.join(self.inputs)}"
            )
        return self.H[:, self.outputs.index(output), self.inputs.index(input)]


@dataclass(frozen=True)
class Comparison:
    """Differences of two results, B less A, in SI units."""

    time: Array
    """(k,) [s]"""
    columns: list[str]
    """that both have"""
    units: list[str]
    """of the columns"""
    differences: Array
    """(k, columns)"""
    summary: dict[str, Any]
    """what ``lissom compare --json`` says: largest and rms differences, nodes, stress"""
    text: str
    """for people"""
    warnings: list[str]
    """as the command line prints them"""

    @property
    def largest(self) -> dict[str, float]:
        """the largest |difference| of each column"""
        return {name: float(np.abs(self.differences[:, i]).max()) for i, name in enumerate(self.columns)}
