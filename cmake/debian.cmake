# lissom_VERSION_amd64.deb, made by `make deb` (cpack -G DEB)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lissom)
set(CPACK_PACKAGE_VENDOR "The Lissom authors")
set(CPACK_PACKAGE_CONTACT "The Lissom authors <maintainers@users.noreply.a-seed-b578b105.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "flexible multibody dynamics and its model-order reduction")
# cpack adds the blanks and dots of the control file
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"From finite element meshes to small models whose error is known: modes,
Craig-Bampton reduction to a given accuracy, simulation of flexible
mechanisms, and the reduction of whole mechanisms to ordinary differential
equations with a few unknowns.

The package has the program, the Python module, and the C++ library with
its headers.")
set(CPACK_STRIP_FILES ON)
# installed as into /usr, below another root: folders that depend on the prefix are then the right ones
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# the libraries that program and module are linked with come from dpkg-shlibdeps
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# reports need the two scripts; of the variants of OpenBLAS the one that shares threads with OpenMP; geometries need gmsh
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libjs-three, node-d3, libopenblas0-openmp, python3 (>= 3.11~), python3 (<< 3.12), python3-numpy, python3-scipy")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gmsh, python3-h5py, python3-matplotlib")
# to link programs with the library
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libeigen3-dev, libfmt-dev, nlohmann-json3-dev, \
libmetis-dev, libhdf5-dev, libmatio-dev, libsundials-dev, libopenblas-dev, zlib1g-dev, libminizip-dev, cmake, pkg-config")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/postinst ${CMAKE_SOURCE_DIR}/packaging/prerm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_SCRIPTS ${CMAKE_BINARY_DIR}/debian_changelog.cmake)
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR})
configure_file(cmake/debian_changelog.cmake.in debian_changelog.cmake @ONLY)
include(CPack)
