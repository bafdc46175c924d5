# The core library and the program of another build folder, which needed no LibTorch: builds for several versions of torch
# share them. They are copied, for the parts of a symprof find each other beside themselves.
set(core_library ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libsymprof_core.so)
set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/symprof)
set(built_library ${SYMPROF_CORE}/lib/libsymprof_core.so)
set(built_program ${SYMPROF_CORE}/bin/symprof)
add_custom_command(OUTPUT ${core_library} ${program} DEPENDS ${built_library} ${built_program}
  COMMAND ${CMAKE_COMMAND} -E copy ${built_library} ${core_library}
  COMMAND ${CMAKE_COMMAND} -E copy ${built_program} ${program})
add_custom_target(symprof DEPENDS ${core_library} ${program})

add_library(symprof_core SHARED IMPORTED)
add_dependencies(symprof_core symprof)
set_target_properties(symprof_core PROPERTIES IMPORTED_LOCATION ${core_library} SYSTEM OFF)
target_include_directories(symprof_core INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
