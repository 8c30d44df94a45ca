"""Flexible multibody dynamics and its model-order reduction: from FE meshes to small models whose error is known.

The same code as the program ``lissom`` runs, with meshes, matrices and results as arrays. Everything is in SI units
unless it says otherwise.
"""

import os as _os

# Threads of OpenMP that have nothing to do shall sleep, not spin, as the program lissom has it: on a machine that others
# use as well, spinning threads hold up the ones they wait for. OpenMP reads this while it is loaded, which the next
# import does, unless NumPy's BLAS has loaded it before: then they spin, as versions() says, but for OMP_WAIT_POLICY=passive
# in the environment of the program. OMP_WAIT_POLICY=active keeps spinning.
def _has_openmp() -> bool:
    try:
        with open("/proc/self/maps") as maps:
            return "libgomp" in maps.read()
    except OSError:
        return False


if "GOMP_SPINCOUNT" not in _os.environ and not _has_openmp():
    _os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from . import _core
from ._bodies import Body, Mesh, Modes, ReducedBody, read_mesh
from ._errors import Error, InputError, Warning
from ._results import (
    Comparison,
    FrequencyResponse,
    Linearisation,
    Run,
    Sensors,
    StudyResult,
    Training,
    read_result,
)
from ._rom import Rom
from ._study import Study, check, compare, inspect, report, run, simulate
from ._system import System

__all__ = [
    "Body",
    "Comparison",
    "Error",
    "FrequencyResponse",
    "InputError",
    "Linearisation",
    "Mesh",
    "Modes",
    "ReducedBody",
    "Rom",
    "Run",
    "Sensors",
    "Study",
    "StudyResult",
    "System",
    "Training",
    "Warning",
    "check",
    "compare",
    "inspect",
    "read_mesh",
    "read_result",
    "report",
    "run",
    "simulate",
    "unit_systems",
    "versions",
]


def versions() -> str:
    """Versions of Lissom and of the libraries in use, a line each."""
    return _core.versions()


def unit_systems() -> list[str]:
    """Names of the unit systems that files and studies may have."""
    return _core.unit_systems()


__version__ = _core.versions().split()[1]
