# What runs a graph on tensors: fake tensors, shape kernels, TorchScript's walker, the interpreter.
file(GLOB_RECURSE torch_sources CONFIGURE_DEPENDS meta/*.cpp trace/torchscript/*.cpp shape/*.cpp measure/real/*.cpp)
if(SYMPROF_FUZZ)  # Reading TorchScript is all that is run there, and these files take an hour to compile.
  list(FILTER torch_sources EXCLUDE REGEX "/shape/|/measure/real/")
endif()
add_library(symprof_torch SHARED ${torch_sources})
add_library(symprof::torch ALIAS symprof_torch)
target_link_libraries(symprof_torch PUBLIC symprof_core PRIVATE symprof_libtorch fmt::fmt)
target_precompile_headers(symprof_torch PRIVATE <ATen/ATen.h> <torch/library.h>)
set_target_properties(symprof_torch PROPERTIES EXPORT_NAME torch)
target_link_libraries(symprof_torch PRIVATE $<BUILD_INTERFACE:symprof_warnings>)
compile_folders_at_once(symprof_torch)
# For what needs only data and differs between releases (base/torch_version.h), and for Python (_preload.py).
file(WRITE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/symprof_torch_version.txt ${symprof_torch_version})

# Beside this one, where a Python package of ours finds torch, or where this build found it.
file(REAL_PATH ${symprof_torch_folder}/lib torch_libraries_dir)
set_target_properties(symprof_torch PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../../torch/lib;${torch_libraries_dir}")
