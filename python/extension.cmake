# The extension: C++'s verbs for Python, and what needs LibTorch's Python types. Those come from the torch that the
# process has imported.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

set(SYMPROF_PYTHON_EXECUTABLE ${Python_EXECUTABLE} PARENT_SCOPE)  # For the tests.

file(GLOB bindings CONFIGURE_DEPENDS bindings/*.cpp)
nanobind_add_module(_native NOMINSIZE ${bindings})
target_link_libraries(_native PRIVATE symprof_core symprof_torch symprof_libtorch fmt::fmt symprof_warnings)
compile_folders_at_once(_native)
# Apart, so that a cache has the others for every torch.
file(GLOB with_libtorch bindings/inner_tensors.cpp bindings/program.cpp bindings/program_errors.cpp bindings/program_values.cpp)
set_source_files_properties(${with_libtorch} PROPERTIES UNITY_GROUP python_bindings_libtorch)
compile_quickly(_native)
set_target_properties(_native PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package} INSTALL_RPATH "$ORIGIN/lib")
install(TARGETS _native DESTINATION symprof COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS symprof_torch LIBRARY DESTINATION symprof/lib COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/symprof_torch_version.txt DESTINATION symprof/lib COMPONENT python EXCLUDE_FROM_ALL)
