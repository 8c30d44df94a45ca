# The libraries that Lissom is linked with, found in one place for the build and for programs that use the installed
# package (lissom-config.cmake).

# in a build what is missing ends it; within find_package(lissom) it is the caller who decides
macro(lissom_find)
  if(LISSOM_IN_PACKAGE)
    find_dependency(${ARGN})
  else()
    find_package(${ARGN} REQUIRED)
  endif()
endmacro()

lissom_find(PkgConfig)
lissom_find(Eigen3 3.4 NO_MODULE)
lissom_find(fmt)
lissom_find(nlohmann_json)
lissom_find(ZLIB)
lissom_find(Threads)
lissom_find(SUNDIALS COMPONENTS cvode nvecserial sunmatrixdense sunlinsoldense)

# OpenBLAS, whatever the caller prefers for itself
set(LISSOM_SAVED_VENDOR ${BLA_VENDOR})
set(BLA_VENDOR OpenBLAS)
lissom_find(BLAS)
lissom_find(LAPACK)
set(BLA_VENDOR ${LISSOM_SAVED_VENDOR})

foreach(pair HDF5=hdf5-serial MATIO=matio)
  string(REPLACE "=" ";" pair ${pair})
  list(POP_FRONT pair name)
  pkg_check_modules(LISSOM_${name} QUIET IMPORTED_TARGET GLOBAL ${pair})
  if(NOT LISSOM_${name}_FOUND)
    list(APPEND LISSOM_MISSING "the pkg-config module ${pair}")
  endif()
endforeach()

# Debian's package of METIS has neither CMake nor pkg-config files
find_library(LISSOM_METIS_LIBRARY metis)
mark_as_advanced(LISSOM_METIS_LIBRARY)
if(NOT LISSOM_METIS_LIBRARY)
  list(APPEND LISSOM_MISSING "the library metis")
elseif(NOT TARGET lissom::metis)
  add_library(lissom::metis UNKNOWN IMPORTED)
  set_target_properties(lissom::metis PROPERTIES IMPORTED_LOCATION ${LISSOM_METIS_LIBRARY})
endif()

# the threads that OpenBLAS uses, called as a library (core/parallel.cpp); libgomp.so, without a number, is there with
# GCC only
find_library(LISSOM_GOMP_LIBRARY NAMES gomp libgomp.so.1)
mark_as_advanced(LISSOM_GOMP_LIBRARY)
if(NOT LISSOM_GOMP_LIBRARY)
  list(APPEND LISSOM_MISSING "the library libgomp")
elseif(NOT TARGET lissom::gomp)
  add_library(lissom::gomp UNKNOWN IMPORTED)
  set_target_properties(lissom::gomp PROPERTIES IMPORTED_LOCATION ${LISSOM_GOMP_LIBRARY})
endif()

if(LISSOM_MISSING)
  list(JOIN LISSOM_MISSING ", " LISSOM_MISSING)
  if(NOT LISSOM_IN_PACKAGE)
    message(FATAL_ERROR "missing: ${LISSOM_MISSING}; scripts/install-packages installs what Lissom needs")
  endif()
endif()
