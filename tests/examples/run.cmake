# Installs symprof into an empty folder, builds examples/ against it and runs each program.
# Usage: cmake -D BUILD=… -D SOURCE=… -D WORK=… -D TORCH=… -P run.cmake
include(${CMAKE_CURRENT_LIST_DIR}/../run_command.cmake)

function(expect pattern)
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "an example printed: ${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/installed
  -DTorch_DIR=${TORCH})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/profile_file ${SOURCE}/models/tiny/mlp.pt2)
expect("peak [1-9][0-9]* bytes, [1-9][0-9]* saved for backward\n$")
run(${WORK}/build/profile_module)
expect("block7.2 aten::addmm [1-9][0-9]* FLOPs\n")
run(${WORK}/build/custom_operator)
expect("^32768 FLOPs, 0 calls without a rule\n$")  # 2 · 4 · 64 · 64.
