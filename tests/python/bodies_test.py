"""Meshes, bodies and reduced bodies as arrays."""

import gc
import unittest

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import lissom
from support import STEEL, FolderTest, beam, beam_arrays, beam_mesh


class Meshes(FolderTest):
    def test_a_mesh_of_arrays_gives_them_back(self):
        points, elements = beam_arrays((2, 1, 1), (2.0, 1.0, 1.0))
        mesh = lissom.Mesh(points, {"hexahedron20": elements}, {"few": [3, 1]}, node_ids=np.arange(len(points)) + 10)
        np.testing.assert_array_equal(mesh.points, points)
        np.testing.assert_array_equal(mesh.elements["hex20"], elements)
        np.testing.assert_array_equal(mesh.node_ids, np.arange(len(points)) + 10)
        np.testing.assert_array_equal(mesh.node_sets["few"], [1, 3])  # ascending
        self.assertIn("2 hex20", repr(mesh))

    def test_points_are_metres_whatever_the_units(self):
        points, elements = beam_arrays((1, 1, 1), (1000.0, 20.0, 20.0))
        mesh = lissom.Mesh(points, {"hex20": elements}, units="mm-t-s")
        np.testing.assert_allclose(mesh.points, 1e-3 * points, rtol=1e-15)

    def test_views_keep_the_mesh_alive(self):
        points = beam_mesh().points
        before = points.copy()
        gc.collect()
        np.testing.assert_array_equal(points, before)
        self.assertFalse(points.flags.writeable)


class Bodies(FolderTest):
    def test_the_cantilever_has_the_frequencies_of_beam_theory(self):
        L, h = 1.0, 0.02
        body = lissom.Body(beam_mesh((20, 1, 1), (L, h, h)), material=STEEL)
        modes = body.modes(4, fix="left")
        EI, rhoA = STEEL["E"] * h**4 / 12, STEEL["rho"] * h**2
        first, second = [x**2 / (2 * np.pi) * np.sqrt(EI / rhoA) / L**2 for x in (1.8751040687, 4.6940911330)]
        # shear and rotary inertia take (h/L)^2 times about 10 off the second: 0.4 %; the mesh adds less
        np.testing.assert_allclose(modes.frequencies, [first, first, second, second], rtol=6e-3)
        self.assertLess(modes.residuals.max(), 1e-8)
        self.assertEqual(modes.rigid_count, 0)

    def test_shapes_are_orthonormal_in_the_mass_matrix(self):
        body = beam()
        modes = body.modes(9)
        self.assertEqual(modes.rigid_count, 6)
        gram = modes.shapes.T @ (body.M @ modes.shapes)
        np.testing.assert_allclose(gram, np.eye(9), atol=1e-9)  # the eigen-solver's tolerance is 1e-9
        # Rayleigh's quotient with SciPy's K is the eigenvalue
        flexible = modes.shapes[:, 6:]
        quotient = np.einsum("ij,ij->j", flexible, body.K @ flexible)
        np.testing.assert_allclose(np.sqrt(quotient) / (2 * np.pi), modes.frequencies[6:], rtol=1e-8)

    def test_the_lower_triangles_are_views(self):
        body = beam()
        first, second = body.K_lower, body.K_lower
        self.assertTrue(np.shares_memory(first.data, second.data))
        self.assertTrue(np.shares_memory(first.indices, second.indices))
        self.assertFalse(first.data.flags.writeable)
        copy = first.data.copy()
        del body, second
        gc.collect()
        np.testing.assert_array_equal(first.data, copy)
        full = beam().K
        self.assertEqual(abs(full - full.T).max(), 0)

    def test_matrices_of_scipy_come_back_as_they_were(self):
        source = lissom.Body(beam_mesh((3, 1, 1)), material=STEEL)
        for convert in (scipy.sparse.csr_matrix, scipy.sparse.coo_matrix, scipy.sparse.csc_array):
            body = lissom.Body(K=convert(source.K), M=convert(source.M), points=source.points)
            self.assertEqual(abs(body.K - source.K).max(), 0)
            self.assertEqual(abs(body.M - source.M).max(), 0)
        # and SciPy's own eigen-solver agrees, on the body held at 20 nodes
        ours = source.modes(3, fix="left").frequencies
        held = np.isin(source.dofs[:, 0], source.node_sets["left"])
        free = np.flatnonzero(~held)
        K, M = (m[free][:, free].tocsc() for m in (source.K, source.M))
        values = scipy.sparse.linalg.eigsh(K, 3, M, sigma=0, return_eigenvectors=False)
        np.testing.assert_allclose(ours, np.sort(np.sqrt(values)) / (2 * np.pi), rtol=1e-8)

    def test_a_body_file_gives_the_same_body(self):
        body = beam()
        body.save("beam.body.h5")
        read = lissom.Body("beam.body.h5")
        self.assertEqual(read.name, "beam")
        self.assertEqual(abs(read.K - body.K).max(), 0)
        np.testing.assert_array_equal(read.modes(8).frequencies, body.modes(8).frequencies)

    def test_displacements_of_nodes_follow_spiders(self):
        body = beam()
        rigid = np.zeros(body.K.shape[0])
        rigid[body.dofs[:, 1] == 1] = 0.5  # all moved along y
        np.testing.assert_allclose(body.displacements(rigid)[:, 1], 0.5, rtol=1e-14)

    def test_the_summary_is_that_of_inspect(self):
        summary = beam().summary
        self.assertAlmostEqual(summary["mass"], STEEL["rho"] * 0.02**2, places=9)
        self.assertIn("hex20", summary["elements"])


class Reductions(FolderTest):
    def test_a_reduction_keeps_its_tolerance(self):
        body = beam()
        reduced = body.reduce(interfaces=["a", "b"], tolerance=1e-3, modes=6, exact=True)
        self.assertEqual(reduced.interfaces, ["a", "b"])
        errors = reduced.errors
        self.assertEqual(len(errors["exact"]), 6)
        self.assertLess(errors["bound"].max(), 1e-3)
        self.assertTrue(np.all(errors["exact"] <= errors["bound"]))
        # against the whole body
        whole = body.modes(12).frequencies[6:12]
        np.testing.assert_allclose(reduced.frequencies ** 2, whole**2, rtol=1e-3)
        self.assertEqual(reduced.rigid_count, 6)
        self.assertEqual(reduced.K.shape, (len(reduced.coordinates),) * 2)

    def test_modes_are_a_view_that_outlives_the_body(self):
        reduced = beam().reduce(interfaces=["a", "b"], method="fixed", count=3)
        modes, again = reduced.modes, reduced.modes
        self.assertTrue(np.shares_memory(modes, again))
        self.assertEqual(modes.shape, (3 * len(reduced.points), len(reduced.K)))
        copy = modes.copy()
        del reduced, again
        gc.collect()
        np.testing.assert_array_equal(modes, copy)
        with self.assertRaises(ValueError):
            modes[0, 0] = 1.0

    def test_a_file_gives_the_same_reduction(self):
        reduced = beam().reduce(interfaces=["a", "b"], method="fixed", count=3)
        reduced.save("beam.reduced.h5")
        read = lissom.ReducedBody("beam.reduced.h5")
        for name in ("K", "M", "modes", "eigenvectors"):
            np.testing.assert_array_equal(getattr(read, name), getattr(reduced, name))

    def test_keys_are_those_of_the_study_file(self):
        with self.assertRaisesRegex(lissom.InputError, r"bodies\.beam\.reduce\.tolerence.*tolerance"):
            beam().reduce(interfaces=["a", "b"], tolerence=1e-3)


if __name__ == "__main__":
    unittest.main()
