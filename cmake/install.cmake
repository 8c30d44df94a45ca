# What `make install`, the Debian package and the wheel take along, and where it goes below the prefix:
#   bin/lissom                       the program
#   lib/liblissom.a, include/lissom  the library, with lib/cmake/lissom and lib/pkgconfig for programs that use it
#   share/man, share/bash-completion, share/zsh    made by the program itself from its verbs and flags
#   share/lissom                     examples, schema of study files
#   share/doc/lissom                 licence, changelog
#   lib/python3*/dist-packages       the Python module, where this prefix's Python looks for it
include(CMakePackageConfigHelpers)
find_program(LISSOM_INSTALL_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)

target_compile_definitions(lissom PRIVATE LISSOM_DATE="${LISSOM_DATE}")

# the wheel: the module, and the program beside Python's own
if(SKBUILD)
  install(TARGETS lissom RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
  install(DIRECTORY ${CMAKE_BINARY_DIR}/python/lissom DESTINATION . PATTERN __pycache__ EXCLUDE)
  return()
endif()

# manual page and completions; the target lissom_package is all that must be built before an installation
set(pages ${CMAKE_BINARY_DIR}/pages)
add_custom_command(OUTPUT ${pages}/lissom.1 ${pages}/lissom.1.gz ${pages}/lissom.bash ${pages}/_lissom DEPENDS lissom VERBATIM
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
  COMMAND sh -c "cd pages && \"$1\" manual > lissom.1 && gzip -9nk -f lissom.1 && \"$1\" completion bash > lissom.bash && \"$1\" completion zsh > _lissom"
          sh $<TARGET_FILE:lissom>
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} COMMENT "Manual page and completions")
add_custom_target(lissom_package ALL DEPENDS ${pages}/lissom.1 lissom lissom_lib)
if(TARGET lissom_python)
  add_dependencies(lissom_package lissom_python)
endif()

install(TARGETS lissom RUNTIME DESTINATION bin)
install(TARGETS lissom_lib EXPORT lissom ARCHIVE DESTINATION lib)
# readers and writers of MATLAB files use matio's own types: not for others
install(DIRECTORY lissom DESTINATION include FILES_MATCHING PATTERN *.hpp PATTERN mat_file.hpp EXCLUDE PATTERN page EXCLUDE)

set(package_folder lib/cmake/lissom)
configure_package_config_file(cmake/lissom-config.cmake.in ${CMAKE_BINARY_DIR}/lissom-config.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/lissom-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/lissom-config.cmake ${CMAKE_BINARY_DIR}/lissom-config-version.cmake
  cmake/lissom-dependencies.cmake DESTINATION ${package_folder})
install(EXPORT lissom NAMESPACE lissom:: FILE lissom-targets.cmake DESTINATION ${package_folder})
configure_file(cmake/lissom.pc.in lissom.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/lissom.pc DESTINATION lib/pkgconfig)

install(FILES ${pages}/lissom.1.gz DESTINATION share/man/man1)
install(FILES ${pages}/lissom.bash DESTINATION share/bash-completion/completions RENAME lissom)
install(DIRECTORY examples DESTINATION share/lissom USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE PATTERN build EXCLUDE)
install(FILES docs/reference/study.schema.json DESTINATION share/lissom OPTIONAL)
install(FILES packaging/copyright DESTINATION share/doc/lissom)

# folders that depend on the prefix, which is known only when it is installed
configure_file(cmake/install_by_prefix.cmake.in install_by_prefix.cmake @ONLY)
install(SCRIPT ${CMAKE_BINARY_DIR}/install_by_prefix.cmake)

include(cmake/debian.cmake)
