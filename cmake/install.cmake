# `cmake --install` gives other CMake projects find_package(symprof), with the targets symprof::core
# (data, readers, costs, reports) and symprof::torch (runs graphs; needs LibTorch at run time).
include(CMakePackageConfigHelpers)

# The libraries find each other beside themselves, and LibTorch where a Python package of ours finds torch, or where
# this build found it.
set_target_properties(symprof_core PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(symprof PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};$ORIGIN/../lib")

set(installed symprof_core symprof)
if(SYMPROF_TORCH)
  list(APPEND installed symprof_torch)
  install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/symprof_torch_version.txt DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS ${installed} EXPORT symprof_targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT symprof_targets NAMESPACE symprof:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/symprof)
# Public headers say that they are.
file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  base/*.h record/*.h meta/*.h trace/*.h engine/*.h shape/*.h profile/*.h measure/*.h plan/*.h snapshot/*.h session/*.h report/*.h
  workbench/*.h)
foreach(header ${headers})
  file(STRINGS ${header} public REGEX "^// Public header\\.$" LIMIT_COUNT 1)
  if(public)
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/symprof/${folder})
  endif()
endforeach()
install(DIRECTORY devices DESTINATION ${CMAKE_INSTALL_DATADIR}/symprof)

configure_package_config_file(cmake/symprofConfig.cmake.in ${CMAKE_BINARY_DIR}/symprofConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/symprof)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/symprofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/symprofConfig.cmake ${CMAKE_BINARY_DIR}/symprofConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/symprof)
