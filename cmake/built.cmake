# The Python package out of a build that is there: `make wheel` compiles nothing a second time.
foreach(target symprof symprof_torch _native)  # What pyproject.toml asks for.
  add_custom_target(${target} COMMAND ${CMAKE_COMMAND} --build ${SYMPROF_BUILT} --target ${target} USES_TERMINAL)
endforeach()
install(CODE "
  execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${SYMPROF_BUILT}\" --component python --prefix \"\${CMAKE_INSTALL_PREFIX}\"
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT python)
