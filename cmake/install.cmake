# `cmake --install` gives other CMake projects find_package(symprof), with the targets symprof::core
# (data, readers, costs, reports) and symprof::torch (runs graphs; needs LibTorch at run time).
include(CMakePackageConfigHelpers)

# The libraries find each other beside themselves, and LibTorch where this build found it.
set_target_properties(symprof_core PROPERTIES INSTALL_RPATH "$ORIGIN")
file(REAL_PATH ${TORCH_INSTALL_PREFIX}/lib torch_libraries_dir)
set_target_properties(symprof_torch PROPERTIES INSTALL_RPATH "$ORIGIN;${torch_libraries_dir}")
set_target_properties(symprof PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

install(TARGETS symprof_core symprof_torch symprof EXPORT symprof_targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT symprof_targets NAMESPACE symprof:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/symprof)
foreach(folder base record meta trace shape profile plan session report)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/symprof FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY devices DESTINATION ${CMAKE_INSTALL_DATADIR}/symprof)

configure_package_config_file(cmake/symprofConfig.cmake.in ${CMAKE_BINARY_DIR}/symprofConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/symprof)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/symprofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/symprofConfig.cmake ${CMAKE_BINARY_DIR}/symprofConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/symprof)
