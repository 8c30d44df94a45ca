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

# OpenBLAS, whatever the caller prefers for itself
set(LISSOM_SAVED_VENDOR ${BLA_VENDOR})
set(BLA_VENDOR OpenBLAS)
lissom_find(BLAS)
lissom_find(LAPACK)
set(BLA_VENDOR ${LISSOM_SAVED_VENDOR})

foreach(pair HDF5=hdf5-serial MATIO=matio MINIZIP=minizip)
  string(REPLACE "=" ";" pair ${pair})
  list(POP_FRONT pair name)
  pkg_check_modules(LISSOM_${name} QUIET IMPORTED_TARGET GLOBAL ${pair})
  if(NOT LISSOM_${name}_FOUND)
    list(APPEND LISSOM_MISSING "the pkg-config module ${pair}")
  endif()
endforeach()

# A library that is looked up by its name alone, as lissom::TARGET.
function(lissom_library target)
  string(TOUPPER LISSOM_${target}_LIBRARY found)
  find_library(${found} NAMES ${ARGN})
  mark_as_advanced(${found})
  if(NOT ${found})
    list(GET ARGN 0 name)
    list(APPEND LISSOM_MISSING "the library ${name}")
    set(LISSOM_MISSING ${LISSOM_MISSING} PARENT_SCOPE)
  elseif(NOT TARGET lissom::${target})
    add_library(lissom::${target} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(lissom::${target} PROPERTIES IMPORTED_LOCATION ${${found}})
  endif()
endfunction()

# Debian's package of METIS has neither CMake nor pkg-config files
lissom_library(metis metis)
# SUNDIALS' own CMake files want OpenMP of the compiler in use (clang's has a package of its own), for parts that are
# not used here
foreach(part cvode nvecserial sunmatrixdense sunlinsoldense)
  lissom_library(${part} sundials_${part})
endforeach()
# the threads that OpenBLAS uses, called as a library (core/parallel.cpp); libgomp.so, without a number, is there with
# GCC only
lissom_library(gomp gomp libgomp.so.1)

if(LISSOM_MISSING)
  list(JOIN LISSOM_MISSING ", " LISSOM_MISSING)
  if(NOT LISSOM_IN_PACKAGE)
    message(FATAL_ERROR "missing: ${LISSOM_MISSING}; scripts/install-packages installs what Lissom needs")
  endif()
endif()
