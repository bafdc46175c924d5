# Installs symprof into an empty folder, configures and builds the consumer against it, runs it.
# Usage: cmake -D BUILD=… -D SOURCE=… -D WORK=… -P run.cmake
include(${CMAKE_CURRENT_LIST_DIR}/../run_command.cmake)

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/consumer -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/installed)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer ${SOURCE}/models/tiny/mlp.pt2)
if(NOT output MATCHES "^[1-9][0-9]* FLOPs forward, [1-9][0-9]* bytes saved, peak [1-9][0-9]*\n$")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
run(${WORK}/installed/bin/symprof profile ${SOURCE}/models/tiny/mlp.pt2)
