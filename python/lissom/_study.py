"""Studies and what is done with them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

from . import _core, _toml
from ._calls import Call, Path, Progress, TemporaryFolder, integer, number, optional_path, parsed, path, text, texts
from ._control import Control, Controller, Inputs, split
from ._errors import InputError
from ._results import Comparison, FrequencyResponse, Linearisation, Run, StudyResult, Training

if TYPE_CHECKING:
    import numpy as np
else:
    from ._numpy import np

_StudyInput = tuple[str, Union[str, None], list[tuple[str, str]]]
_MechanismInput = tuple[_StudyInput, Union[_StudyInput, None], str, bool]


class Study:
    """What is to be done, as a study file says it.

    ``Study("study.toml", set={"simulate.end": 0.1})`` reads a file, with some keys set otherwise.

    ``Study({"bodies": {...}, "joints": [...], "simulate": {...}}, folder=".")`` takes nested dicts with the same keys;
    NumPy numbers and arrays are fine. Names of files in it are relative to `folder`.

    Every problem of the study is in the message of one InputError.
    """

    def __init__(
        self,
        study: Path | Mapping[str, Any],
        set: Mapping[str, Any] | None = None,
        *,
        folder: Path = ".",
        name: str = "study",
    ) -> None:
        settings = _toml.settings(set)
        content: str | None = None
        if isinstance(study, Mapping):
            content = _toml.write(study)
            file = os.path.join(path(folder, "folder"), text(name, "name") + ".toml")
        else:
            file = path(study, "study")
        self._input: _StudyInput = (file, content, settings)
        self._keep: Any = None
        with Call() as call:
            self._title, self._cases, self._text, self._bodies, self._units = _core.read_study(
                call.session, self._input
            )

    @property
    def title(self) -> str:
        """Its title."""
        return self._title

    @property
    def text(self) -> str:
        """The study as TOML."""
        return self._text

    @property
    def cases(self) -> list[str]:
        """Names of its cases."""
        return list(self._cases)

    @property
    def bodies(self) -> list[str]:
        """Names of its bodies."""
        return list(self._bodies)

    @property
    def units(self) -> str:
        """Its unit system; results are in SI units all the same."""
        return self._units

    def _mechanism(self, case: str | None, strict: bool = False) -> _MechanismInput:
        return (self._input, None, "" if case is None else text(case, "case"), strict)

    def inspect(self, *, progress: Progress = None) -> dict[str, Any]:
        """What ``lissom inspect --json`` says: bodies, joints, constraints, degrees of freedom. Reduces bodies."""
        with Call(progress) as call:
            return parsed(_core.inspect_study(call.session, self._input)[0])

    def run(
        self,
        out: Path,
        *,
        report: bool = True,
        resume: bool = False,
        checkpoint: float = 5.0,
        progress: Progress = None,
    ) -> StudyResult:
        """Everything that the study asks for, cases included, into the folder `out`, with a report.

        resume : go on where a run in the folder was stopped or killed.
        checkpoint : seconds of computing between checkpoints.
        """
        folder = path(out, "out")
        command = f"lissom.Study({self._input[0]!r}).run({folder!r})"
        with Call(progress, processes=True) as call:
            summary, words, page = _core.run(
                call.session, self._input, folder, bool(report), bool(resume), number(checkpoint, "checkpoint"), command
            )
            return StudyResult(folder, parsed(summary), words, page or None, call.warnings)

    def simulate(
        self,
        case: str | None = None,
        out: Path | None = None,
        *,
        resume: bool = False,
        checkpoint: float = 5.0,
        view: bool = False,
        strict: bool = False,
        inputs: Inputs = None,
        controller: Controller = None,
        rate: float | None = None,
        outputs: Sequence[str] | None = None,
        progress: Progress = None,
    ) -> Run:
        """Simulates the mechanism of the study, or of one of its cases.

        out : folder for sensors.csv and result.h5; None writes nothing.
        view : also leave motion.view.h5, which reports show.
        strict : refuse parameters outside of what a parametric model was trained on.
        inputs : what the inputs of loads are, by name: a number, an expression of t, a table as in studies; an array, one
            number for every instant; or a function of (t, y), y the outputs.
        controller : called with (t, y); gives the inputs as numbers, or as a dict of some of them. It sees what was
            measured just before it acts.
        rate : how many times per second functions, arrays and the controller are asked [Hz]; in between inputs are held,
            so that derivatives with respect to y do not act within a step.
        outputs : names of the sensors, or of their columns, that y has, in this order; all columns otherwise. SI units.
        """
        settings, control = split(inputs, controller, rate, outputs)
        mechanism = _with_settings(self._mechanism(case, bool(strict)), settings)
        return _simulate(mechanism, out, resume, checkpoint, view, progress, control)

    def train(
        self,
        order: int | None = None,
        out: Path | None = None,
        *,
        resume: bool = False,
        checkpoint: float = 5.0,
        progress: Progress = None,
    ) -> Training:
        """Reduces the whole mechanism as [train] says.

        order : number of modes, in place of the study's or of the proposal.
        out : folder for model.rom.h5 and what led to its order; None keeps the model in a temporary file.
        """
        keep = None
        if out is None:
            keep = TemporaryFolder()
            file = os.path.join(keep.name, "model.rom.h5")
        else:
            file = os.path.join(path(out, "out"), "model.rom.h5")
        with Call(progress, processes=out is not None) as call:
            summary, words, values, used = _core.train(
                call.session,
                self._input,
                None if order is None else integer(order, "order"),
                optional_path(out, "out"),
                bool(resume),
                number(checkpoint, "checkpoint"),
                file,
            )
            return Training(used, values.reshape(-1), parsed(summary), words, file, call.warnings, keep)

    def linearise(
        self,
        at: float | None = None,
        static: bool = False,
        *,
        case: str | None = None,
        out: Path | None = None,
        progress: Progress = None,
    ) -> Linearisation:
        """A, B, C, D, frequencies and modes about a state.

        at : time of the run [s]; the start, or what [linearise] says, unless given.
        static : about the static equilibrium.
        out : a MATLAB file (.mat).
        """
        return _linearise(self._mechanism(case), at, static, out, progress)

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
        case: str | None = None,
        out: Path | None = None,
        progress: Progress = None,
    ) -> FrequencyResponse:
        """The frequency response about a state; what is not given is that of [response].

        lowest, highest : frequencies [Hz]. points : their number. linear : evenly spaced, not by ratio.
        inputs, outputs : names of loads and columns of sensors; all unless given. out : a CSV file.
        """
        return _response(
            self._mechanism(case), lowest, highest, points, linear, inputs, outputs, at, static, out, progress
        )

    def static(
        self, at: float = 0.0, *, case: str | None = None, out: Path | None = None, progress: Progress = None
    ) -> Run:
        """The static equilibrium under the loads of a time [s]: a run of one sample; reactions are in its summary."""
        return _static(self._mechanism(case), at, out, progress)

    def assemble(self, *, case: str | None = None, progress: Progress = None) -> dict[str, Any]:
        """Position and rotation of every body once rough positions are put together; "text" is for people."""
        with Call(progress) as call:
            summary, words = _core.assemble(call.session, self._mechanism(case))
            return {**parsed(summary), "text": words}

    def reduce(
        self,
        out: Path | None = None,
        *,
        body: str | None = None,
        tolerance: float | None = None,
        progress: Progress = None,
    ) -> dict[str, Any]:
        """Only the reductions of the study's bodies: what ``lissom reduce --json`` says. None writes nothing."""
        with Call(progress) as call:
            summary, _ = _core.reduce(
                call.session,
                self._input,
                "" if body is None else text(body, "body"),
                None if tolerance is None else number(tolerance, "tolerance"),
                optional_path(out, "out"),
            )
            return parsed(summary)

    def sweep(
        self,
        out: Path,
        *,
        jobs: int | None = None,
        resume: bool = False,
        retry_failed: bool = False,
        timeout: float | None = None,
        keep_results: bool = False,
        processes: bool = True,
        progress: Progress = None,
    ) -> StudyResult:
        """Varies the parameters that [sweep] names; leaves sweep.csv and sweep.json in `out`.

        processes : every point in a process of its own, which is the program lissom ($LISSOM_PROGRAM, beside the package, or
            on the path); without it, or where there is none, one after the other in this process.
        jobs : points at a time (as many as cores). timeout : of a point [s].
        resume : keep points that are done. retry_failed : and compute those that failed once more.
        keep_results : leave the files of every point in points/NNNNNN.
        """
        folder = path(out, "out")
        if jobs is not None and integer(jobs, "jobs") < 1:
            raise InputError(f"jobs: is {jobs}, expected 1 or more")
        if timeout is not None and not number(timeout, "timeout") > 0:
            raise InputError(f"timeout: is {timeout}, expected a positive number")
        with Call(progress, bool(processes)) as call:
            summary, words = _core.sweep(
                call.session,
                self._input,
                folder,
                jobs or 0,
                bool(resume),
                bool(retry_failed),
                float(timeout or 0),
                bool(keep_results),
            )
            return StudyResult(folder, parsed(summary), words, None, call.warnings)

    def __repr__(self) -> str:
        return f"<lissom.Study {self._title!r}: {', '.join(self._bodies) or 'no bodies'}>"


def _with_settings(mechanism: _MechanismInput, settings: Mapping[str, Any]) -> _MechanismInput:
    (file, content, own), study, case, strict = mechanism
    return ((file, content, own + _toml.settings(settings)), study, case, strict)


def _simulate(
    mechanism: _MechanismInput,
    out: Path | None,
    resume: bool,
    checkpoint: float,
    view: bool,
    progress: Progress,
    control: Control | None = None,
) -> Run:
    with Call(progress) as call:
        core, summary, words = _core.simulate(
            call.session,
            mechanism,
            optional_path(out, "out"),
            bool(view),
            bool(resume),
            number(checkpoint, "checkpoint"),
            control,
        )
        return Run(core, parsed(summary), words, call.warnings)


def _linearise(
    mechanism: _MechanismInput, at: float | None, static: bool, out: Path | None, progress: Progress
) -> Linearisation:
    with Call(progress) as call:
        fields, summary, words = _core.linearise(
            call.session, mechanism, None if at is None else number(at, "at"), bool(static), optional_path(out, "out")
        )
        return Linearisation(**fields, summary=parsed(summary), text=words, warnings=call.warnings)


def _response(
    mechanism: _MechanismInput,
    lowest: float | None,
    highest: float | None,
    points: int | None,
    linear: bool | None,
    inputs: str | Sequence[str] | None,
    outputs: str | Sequence[str] | None,
    at: float | None,
    static: bool,
    out: Path | None,
    progress: Progress,
) -> FrequencyResponse:
    with Call(progress) as call:
        frequencies, pairs, summary, words = _core.response(
            call.session,
            mechanism,
            None if at is None else number(at, "at"),
            bool(static),
            optional_path(out, "out"),
            None if lowest is None else number(lowest, "lowest"),
            None if highest is None else number(highest, "highest"),
            None if points is None else integer(points, "points"),
            None if linear is None else not linear,
            texts(inputs, "inputs"),
            texts(outputs, "outputs"),
        )
        names_in = list(dict.fromkeys(one[0] for one in pairs))
        names_out = list(dict.fromkeys(one[1] for one in pairs))
        H = np.full((frequencies.size, len(names_out), len(names_in)), np.nan, dtype=np.complex128)
        units = {}
        for one_in, one_out, unit, values in pairs:
            H[:, names_out.index(one_out), names_in.index(one_in)] = values
            units[(one_out, one_in)] = unit
        return FrequencyResponse(
            frequencies.reshape(-1), H, names_in, names_out, units, parsed(summary), words, call.warnings
        )


def _static(mechanism: _MechanismInput, at: float, out: Path | None, progress: Progress) -> Run:
    with Call(progress) as call:
        core, summary, words = _core.statics(call.session, mechanism, number(at, "at"), optional_path(out, "out"))
        return Run(core, parsed(summary), words, call.warnings)


def _as_study(study: Study | Path | Mapping[str, Any], set: Mapping[str, Any] | None) -> Study:
    if isinstance(study, Study):
        if set:
            raise InputError("set: goes with a file or a dict, not with a Study, which has its own")
        return study
    return Study(study, set)


def run(
    study: Study | Path | Mapping[str, Any],
    out: Path,
    *,
    set: Mapping[str, Any] | None = None,
    report: bool = True,
    resume: bool = False,
    progress: Progress = None,
) -> StudyResult:
    """Everything that a study asks for: ``Study(study, set).run(out)``."""
    return _as_study(study, set).run(out, report=report, resume=resume, progress=progress)


def simulate(
    study: Study | Path | Mapping[str, Any],
    case: str | None = None,
    out: Path | None = None,
    *,
    set: Mapping[str, Any] | None = None,
    resume: bool = False,
    view: bool = False,
    progress: Progress = None,
) -> Run:
    """Simulates a study, or a reduced mechanism (.rom.h5)."""
    if isinstance(study, (str, os.PathLike)) and not path(study, "study").lower().endswith(".toml"):
        mechanism = (
            (path(study, "study"), None, _toml.settings(set)),
            None,
            "" if case is None else text(case, "case"),
            False,
        )
        return _simulate(mechanism, out, resume, 5.0, view, progress)
    return _as_study(study, set).simulate(case, out, resume=resume, view=view, progress=progress)


def compare(
    a: Path | StudyResult,
    b: Path | StudyResult,
    *,
    map: Mapping[str, str] | None = None,
    units_a: str | None = None,
    units_b: str | None = None,
    nodes: bool = True,
    out: Path | None = None,
    progress: Progress = None,
) -> Comparison:
    """Differences of two results: files (result.h5), folders, or tables (.csv) of other programs. `a` is the reference.

    map : columns of `a` and what they are called in `b`. units_a, units_b : of tables.
    nodes : also compare nodes and stress. out : folder for differences.csv and comparison.json.
    """
    if map is not None and not isinstance(map, Mapping):
        raise InputError(f"map: expected a dict of names of columns, found {type(map).__name__}")
    columns = {text(k, "map"): text(v, "map") for k, v in (map or {}).items()}
    files = [path(one.out if isinstance(one, StudyResult) else one, what) for one, what in ((a, "a"), (b, "b"))]
    with Call(progress) as call:
        summary, words, time, names, units, differences = _core.compare(
            call.session, files[0], files[1], columns, units_a, units_b, bool(nodes), optional_path(out, "out")
        )
        return Comparison(time.reshape(-1), names, units, differences, parsed(summary), words, call.warnings)


def check(
    study: Path, set: Mapping[str, Any] | None = None, *, quick: bool = False, progress: Progress = None
) -> dict[str, Any]:
    """Every problem of a study file at once: what ``lissom check --json`` says. "problems" is a list of dicts with file, line,
    key, message and suggestion, empty where nothing is wrong; "study" says what it would do, "text" both for people.

    quick : look at the text only, not into meshes and other files.
    """
    with Call(progress) as call:
        found, words = _core.check(call.session, (path(study, "study"), None, _toml.settings(set)), bool(quick))
        return {**parsed(found), "text": words}


def report(folder: Path, out: Path | None = None, *, max_size: float = 20.0, progress: Progress = None) -> str:
    """Writes the results of a folder, or of one file, as an HTML page; returns its path. max_size : [MB]."""
    if not 1 <= number(max_size, "max_size") <= 2000:
        raise InputError(f"max_size: is {max_size}, expected 1 to 2000 MB")
    with Call(progress) as call:
        return _core.report(call.session, path(folder, "folder"), optional_path(out, "out"), float(max_size))[0]


def inspect(file: Path, units: str = "SI", *, progress: Progress = None) -> dict[str, Any]:
    """What is in a mesh, matrix, study, ROM or result file: what ``lissom inspect --json`` says.
    units : of a mesh or of matrices."""
    with Call(progress) as call:
        return parsed(_core.inspect(call.session, path(file, "file"), text(units, "units"))[0])
