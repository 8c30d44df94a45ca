"""Meshes, elastic bodies as K and M, and reduced bodies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Sequence

from . import _core, _toml
from ._calls import Array, Call, Path, Progress, integer, integers, number, numbers, parsed, path, text, texts
from ._errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse
    from numpy.typing import NDArray
else:
    from ._numpy import np

# names of other programs (meshio) for the elements
_ELEMENT_NAMES = {
    "tetra": "tet4",
    "tetra10": "tet10",
    "hexahedron": "hex8",
    "hexahedron20": "hex20",
    "wedge": "wedge6",
}
# a body in memory is read as that of a study, whose mesh must be a file: any one that is there
_SOME_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "py.typed")


class Mesh:
    """A mesh of solid elements.

    ``Mesh(points, elements={"tet10": array}, node_sets={"bore": indices})`` makes one from arrays:

    points : (n, 3), in the unit of length of `units`.
    elements : by type (tet4 tet10 hex8 hex20 wedge6 wedge15, or meshio's names), arrays of node indices from 0,
        shape (elements, nodes of the type). Mid-side nodes in the order of Abaqus.
    node_sets : by name, node indices from 0.
    node_ids : (n,), numbers of the nodes; 1, 2, 3, ... unless given.
    units : unit system of the points, and of materials given with the mesh ("SI", "mm-t-s", ...).
    """

    def __init__(
        self,
        points: Any,
        elements: Mapping[str, Any],
        node_sets: Mapping[str, Any] | None = None,
        *,
        node_ids: Any = None,
        units: str = "SI",
    ) -> None:
        if not isinstance(elements, Mapping):
            raise InputError(f"elements: expected a dict of arrays by type, found {type(elements).__name__}")
        tables = [
            (_ELEMENT_NAMES.get(text(name, "elements"), name), integers(table, f"elements[{name!r}]", 2))
            for name, table in elements.items()
        ]
        if node_sets is not None and not isinstance(node_sets, Mapping):
            raise InputError(f"node_sets: expected a dict of arrays by name, found {type(node_sets).__name__}")
        sets = {
            text(name, "node_sets"): integers(nodes, f"node_sets[{name!r}]", 1)
            for name, nodes in (node_sets or {}).items()
        }
        ids = None if node_ids is None else integers(node_ids, "node_ids", 1)
        self._core = _core.mesh_from_arrays(
            numbers(points, "points", (None, 3)), ids, tables, sets, text(units, "units")
        )

    @classmethod
    def _of(cls, core: _core.Mesh) -> "Mesh":
        mesh = cls.__new__(cls)
        mesh._core = core
        return mesh

    @property
    def points(self) -> Array:
        """Nodes, (n, 3) [m]; read-only. A view where the units are SI, else a copy."""
        return self._core.points()

    @property
    def node_ids(self) -> NDArray[np.int64]:
        """Numbers of the nodes, (n,), as the file calls them; a read-only view."""
        return self._core.node_ids()

    @property
    def elements(self) -> dict[str, NDArray[np.int32]]:
        """Node indices by element type, (elements, nodes of the type)."""
        return self._core.elements()

    @property
    def node_sets(self) -> dict[str, NDArray[np.int32]]:
        """Node indices by set."""
        return self._core.node_sets()

    @property
    def units(self) -> str:
        """The unit system of the file."""
        return self._core.units()

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(table)} {name}" for name, table in self.elements.items())
        return f"<lissom.Mesh {self._core.source()!r}: {len(self.node_ids)} nodes, {counts or 'no elements'}>"


def read_mesh(
    file: Path,
    units: str = "SI",
    size: float | None = None,
    order: int = 2,
    *,
    skip_elements: bool = False,
    trust_geometry: bool = False,
    progress: Progress = None,
) -> Mesh:
    """Reads a mesh (.msh .bdf .nas .dat .inp), or meshes a geometry (.geo .step .brep .iges) with gmsh.

    units : unit system of the file ("SI", "mm-t-s", ...).
    size, order : of a geometry: element size in its unit of length, 1 linear or 2 quadratic elements.
    skip_elements : leave out shells, beams, masses and ties of the file, which are an error otherwise.
    trust_geometry : let gmsh run where a geometry lies, with all that the file may do: run programs, write files.
    """
    if size is not None and not number(size, "size") > 0:
        raise InputError(f"size: is {size}, expected a positive length")
    if integer(order, "order") not in (1, 2):
        raise InputError(f"order: is {order}, expected 1 or 2")
    with Call(progress) as call:
        return Mesh._of(
            _core.mesh_from_file(
                call.session,
                path(file, "file"),
                text(units, "units"),
                0.0 if size is None else float(size),
                order,
                bool(skip_elements),
                bool(trust_geometry),
            )
        )


@dataclass(frozen=True)
class Modes:
    """Natural modes of a body, ascending."""

    frequencies: Array
    """(modes,) [Hz]"""
    shapes: Array
    """(degrees of freedom, modes), orthonormal in M [1/sqrt(kg)]; read-only"""
    residuals: Array
    """(modes,) relative residual of each eigenpair"""
    effective_mass: Array
    """(modes, 6): along x, y, z [kg] and about axes through the centre of mass [kg m2]; may be empty"""
    rigid_count: int
    """the first so many modes are rigid motions"""
    warnings: list[str]
    """as the command line prints them"""


class Body:
    """An elastic body: K and M over its degrees of freedom, in SI units.

    ``Body(mesh, material=dict(E=.., nu=.., rho=..), spiders=[...], mass="consistent")`` assembles a mesh; material
    and lengths of spiders are in the mesh's units, keys those of ``[bodies.NAME]`` in a study file.

    ``Body(K=K, M=M, points=points, dofs=dofs)`` takes matrices, SciPy sparse or arrays. `points` (n, 3) are the
    nodes, `dofs` (rows, 2) the index of the point and the direction (0 1 2 displacement, 3 4 5 rotation) of every row;
    without `dofs` the rows are x y z of point after point. `units` are those of the matrices and points.

    ``Body("part.body.h5")`` reads a body file.
    """

    def __init__(
        self,
        mesh: Mesh | Path | None = None,
        material: Mapping[str, Any] | None = None,
        spiders: Sequence[Mapping[str, Any]] | None = (),
        mass: str | None = None,
        *,
        K: Any = None,
        M: Any = None,
        points: Any = None,
        dofs: Any = None,
        name: str = "body",
        units: str | None = None,
        progress: Progress = None,
    ) -> None:
        self._name = text(name, "name")
        spiders = () if spiders is None else spiders
        if not isinstance(spiders, (list, tuple)):
            raise InputError(f"spiders: expected a list of dicts, found {type(spiders).__name__}")
        if K is None and M is None:
            if points is not None or dofs is not None:
                raise InputError("points and dofs go with K and M")
            if mesh is None:
                raise InputError("a body needs a mesh, K and M, or a body file")
            self._units = mesh.units if isinstance(mesh, Mesh) else "SI"
            if units is not None and units != self._units:
                raise InputError(f"units: are {units!r}, and the mesh has {self._units!r}: give them to the mesh")
        else:
            if K is None or M is None:
                raise InputError("K and M are to be given together")
            if mesh is not None or material is not None or len(spiders) > 0 or mass is not None:
                raise InputError("mesh, material, spiders and mass do not go with K and M, which have them built in")
            self._units = "SI" if units is None else text(units, "units")
        with Call(progress) as call:
            if K is not None:
                self._core = _body_of_matrices(call, self._name, K, M, points, dofs, self._units)
            elif isinstance(mesh, Mesh):
                keys = {"material": material, "spiders": list(spiders) or None, "mass": mass}
                self._core = _core.body_from_mesh(call.session, mesh._core, self._study(keys))
            else:
                if material is not None or len(spiders) > 0 or mass is not None:
                    raise InputError("material, spiders and mass do not go with a body file, which has them built in")
                assert mesh is not None
                self._core = _core.body_from_file(call.session, path(mesh, "file"))
                if self._name == "body":
                    self._name = self._core.name() or "body"
            self.warnings: list[str] = call.warnings

    def _study(self, keys: Mapping[str, Any]) -> str:
        """A study with this body alone, whose keys are then read as those of any study."""
        return _toml.write({"units": self._units, "bodies": {self._name: {"mesh": _SOME_FILE, **keys}}})

    def _built(self, progress: Progress = None) -> _core.Body:
        with Call(progress) as call:
            self._core.build(call.session)
        return self._core

    @property
    def name(self) -> str:
        """The name, for messages and files."""
        return self._name

    @property
    def K(self) -> scipy.sparse.csc_matrix:
        """Stiffness matrix, both triangles [N/m, N, N m]; a copy (K_lower is not)."""
        return _full(self.K_lower)

    @property
    def M(self) -> scipy.sparse.csc_matrix:
        """Mass matrix, both triangles [kg, kg m, kg m2]; a copy (M_lower is not)."""
        return _full(self.M_lower)

    @property
    def K_lower(self) -> scipy.sparse.csc_matrix:
        """Lower triangle of K; its arrays are read-only views of the body's own."""
        return _lower(self._built().K())

    @property
    def M_lower(self) -> scipy.sparse.csc_matrix:
        """Lower triangle of M; its arrays are read-only views of the body's own."""
        return _lower(self._built().M())

    @property
    def points(self) -> Array:
        """Nodes, (n, 3) [m]; a read-only view."""
        return self._built().points()

    @property
    def node_ids(self) -> NDArray[np.int64]:
        """Numbers of the nodes, (n,); a read-only view."""
        return self._built().node_ids()

    @property
    def dofs(self) -> NDArray[np.int32]:
        """(rows, 2): index of the node (-1: of none alone) and direction (0 1 2 displacement, 3 4 5 rotation)."""
        return self._built().dofs()

    @property
    def node_sets(self) -> dict[str, NDArray[np.int32]]:
        """Node indices by set; spiders are sets of their reference node."""
        return self._built().node_sets()

    @property
    def summary(self) -> dict[str, Any]:
        """What ``lissom inspect --json`` says of it: nodes, elements, mass, centre, inertia, quality, checks."""
        return parsed(self._core.inspect()[0])

    @property
    def text(self) -> str:
        """The same for people."""
        return self._core.inspect()[1]

    def displacements(self, q: Any) -> Array:
        """Displacements of all nodes, (n, 3) [m], for coordinates q (degrees of freedom,): spiders included."""
        core = self._built()
        return core.displacements(numbers(q, "q", (core.size(),)))

    def modes(
        self,
        count: int = 12,
        fix: str | Iterable[str] | None = (),
        *,
        tolerance: float | None = None,
        allow_parts: bool | None = None,
        progress: Progress = None,
    ) -> Modes:
        """The lowest natural modes.

        count : number of modes, rigid ones included.
        fix : node sets (or "node 17") that are held.
        tolerance : of the eigen-solver (1e-9).
        allow_parts : accept a body in several unconnected parts.
        """
        keys = {
            "count": integer(count, "count"),
            "fix": texts(fix, "fix"),
            "tolerance": tolerance,
            "allow_parts": allow_parts,
        }
        with Call(progress) as call:
            found = self._core.modes(call.session, self._study({"modes": keys}))
            return Modes(*found, warnings=call.warnings)

    def reduce(self, interfaces: Sequence[Any] = (), *, progress: Progress = None, **keys: Any) -> "ReducedBody":
        """Reduces the body; keys are those of ``[bodies.NAME.reduce]``, with their defaults.

        interfaces : node sets, spiders or "node 17" where joints and loads act.
        keys : tolerance (relative error of the eigenvalues), modes (so many flexible ones are in range), method, basis,
            damping, gcms (component modes, too), ...
        """
        if not isinstance(interfaces, (list, tuple)):
            raise InputError(f"interfaces: expected a list, found {type(interfaces).__name__}")
        table = {"interfaces": list(interfaces), **keys}
        with Call(progress) as call:
            core = self._core.reduce(call.session, self._study({"reduce": table}), keys.get("gcms") is True)
            return ReducedBody._of(core, call.warnings)

    def save(self, file: Path) -> None:
        """Writes a body file (.body.h5): mesh, K, M and the modes that were computed last."""
        with Call() as call:
            self._core.save(call.session, path(file, "file"))

    def __repr__(self) -> str:
        return f"<lissom.Body {self._name!r}>"


class ReducedBody:
    """A reduced elastic body: M p'' + D p' + K p = f over reduced coordinates p (N), u = modes p at its nodes.

    ``ReducedBody("part.reduced.h5")`` reads one; ``Body.reduce`` makes one. Arrays are read-only views, which keep the
    body alive; nothing is copied.
    """

    def __init__(self, file: Path) -> None:
        with Call() as call:
            self._core = _core.reduced_from_file(call.session, path(file, "file"))
            self.warnings: list[str] = call.warnings

    @classmethod
    def _of(cls, core: _core.ReducedBody, warnings: list[str]) -> "ReducedBody":
        body = cls.__new__(cls)
        body._core = core
        body.warnings = warnings
        return body

    @property
    def name(self) -> str:
        """The name of the body."""
        return self._core.name()

    @property
    def basis(self) -> str:
        """"craig-bampton", "free-modes" or "free-interface"."""
        return self._core.basis()

    @property
    def K(self) -> Array:
        """(N, N)"""
        return self._core.K()

    @property
    def M(self) -> Array:
        """(N, N)"""
        return self._core.M()

    @property
    def D(self) -> Array:
        """(N, N), or (0, 0) without damping"""
        return self._core.D()

    @property
    def modes(self) -> Array:
        """(3 n, N): displacements of the nodes, x y z of node after node, for unit coordinates"""
        return self._core.modes()

    @property
    def stress_modes(self) -> Array:
        """(6 n, N) [Pa]: xx yy zz xy yz zx of node after node; (0, 0) without"""
        return self._core.stress_modes()

    @property
    def eigenvectors(self) -> Array:
        """(N, N): natural modes of the reduced body, ascending, orthonormal in M"""
        return self._core.eigenvectors()

    @property
    def frequencies(self) -> Array:
        """(range,) natural frequencies of the flexible modes in range [Hz]"""
        return self._core.frequencies().reshape(-1)

    @property
    def rigid_count(self) -> int:
        """the first so many natural modes are rigid"""
        return self._core.rigid_count()

    @property
    def points(self) -> Array:
        """(n, 3) nodes that are kept [m]"""
        return self._core.points()

    @property
    def node_ids(self) -> NDArray[np.int64]:
        """(n,) their numbers"""
        return self._core.node_ids()

    @property
    def interfaces(self) -> list[str]:
        """names of the interfaces"""
        return self._core.interfaces()

    @property
    def coordinates(self) -> list[dict[str, Any]]:
        """what each reduced coordinate is: kind, interface, node, direction, frequency [Hz]"""
        names = self.interfaces
        return [
            {
                "kind": kind,
                "interface": names[interface] if interface >= 0 else None,
                "node": node if node >= 0 else None,
                "direction": direction if direction >= 0 else None,
                "frequency": frequency,
            }
            for kind, interface, node, direction, frequency in self._core.coordinates()
        ]

    @property
    def errors(self) -> dict[str, Array]:
        """relative errors of the eigenvalues of the flexible modes in range: "bound" (proven), "estimate", "exact";
        NaN where they were not computed"""
        table = self._core.errors()
        return {"bound": table[:, 0], "estimate": table[:, 1], "exact": table[:, 2]}

    @property
    def summary(self) -> dict[str, Any]:
        """what ``lissom reduce --json`` says of it; empty of a body that was read"""
        return parsed(self._core.summary()[0])

    @property
    def text(self) -> str:
        """the same for people"""
        return self._core.summary()[1]

    def save(self, file: Path) -> None:
        """Writes a reduced-body file (.reduced.h5)."""
        with Call() as call:
            self._core.save(call.session, path(file, "file"))

    def __repr__(self) -> str:
        return f"<lissom.ReducedBody {self.name!r}: {len(self.K)} coordinates, {self.basis}>"


def _lower(arrays: tuple[Array, NDArray[np.int32], NDArray[np.int32]]) -> scipy.sparse.csc_matrix:
    import scipy.sparse

    n = len(arrays[2]) - 1
    return scipy.sparse.csc_matrix(arrays, shape=(n, n), copy=False)


def _full(lower: scipy.sparse.csc_matrix) -> scipy.sparse.csc_matrix:
    import scipy.sparse

    return (lower + scipy.sparse.tril(lower, -1).T).tocsc()


def _entries(matrix: Any, what: str) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int64], Array]]:
    import scipy.sparse

    try:
        coo = scipy.sparse.coo_matrix(matrix)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected a matrix, SciPy sparse or an array") from None
    if coo.dtype.kind not in "fiub":
        raise InputError(f"{what}: expected numbers, found {coo.dtype}")
    if coo.shape[0] != coo.shape[1]:
        raise InputError(f"{what}: is {coo.shape[0]} by {coo.shape[1]}, expected a square matrix")
    return coo.shape[0], (
        coo.row.astype(np.int64),
        coo.col.astype(np.int64),
        np.ascontiguousarray(coo.data, dtype=np.float64),
    )


def _body_of_matrices(call: Call, name: str, K: Any, M: Any, points: Any, dofs: Any, units: str) -> _core.Body:
    n, stiffness = _entries(K, "K")
    m, mass = _entries(M, "M")
    if n != m:
        raise InputError(f"K has {n} rows and M {m}: expected the same")
    if n == 0:
        raise InputError("K: is empty")
    nodes = None if points is None else numbers(points, "points", (None, 3))
    if dofs is None:
        if nodes is None:
            if n % 3 != 0:
                raise InputError(f"dofs: K has {n} rows, not three a node: say what each row is")
        elif 3 * len(nodes) != n:
            raise InputError(f"dofs: K has {n} rows and there are {len(nodes)} points: say what each row is")
        rows = np.stack([np.repeat(np.arange(n // 3), 3), np.tile(np.arange(3), n // 3)], axis=1)
    else:
        rows = integers(dofs, "dofs", 2)
        if rows.shape != (n, 2):
            raise InputError(f"dofs: expected an array of shape ({n}, 2), found {rows.shape}")
    rows = np.ascontiguousarray(rows, dtype=np.int64)
    if len(np.unique(rows, axis=0)) != n:
        raise InputError("dofs: two rows are the same degree of freedom")
    return _core.body_from_matrices(call.session, name, n, stiffness, mass, nodes, rows, units)
