# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, library, command, CMake package, pkg-config file, licence, documents, examples.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS max EXPORT maxTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/max DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE NOTICE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Laid out as in the repository, so that their links lead somewhere.
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "Doxyfile" EXCLUDE)
install(DIRECTORY benchmarks/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/benchmarks FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
if(TARGET max_command)
  install(TARGETS max_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/max)
install(EXPORT maxTargets NAMESPACE max:: DESTINATION ${package_dir})
configure_package_config_file(cmake/maxConfig.cmake.in ${CMAKE_BINARY_DIR}/cmake/maxConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/maxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/maxConfig.cmake ${CMAKE_BINARY_DIR}/cmake/maxConfigVersion.cmake
        DESTINATION ${package_dir})

# Relative to the file itself, so that an installed tree may be moved.
file(RELATIVE_PATH MAX_LIBDIR_TO_PREFIX /${CMAKE_INSTALL_LIBDIR} /)
configure_file(cmake/max.pc.in ${CMAKE_BINARY_DIR}/cmake/max.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cmake/max.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The same for programs that are built against the build tree: PKG_CONFIG_PATH=build/lib/pkgconfig.
file(CONFIGURE OUTPUT ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/pkgconfig/max.pc @ONLY CONTENT
"libdir=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}

Name: max
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Cflags: -I@PROJECT_SOURCE_DIR@/include
Libs: -L\${libdir} -lmax -Wl,-rpath,\${libdir}
")
