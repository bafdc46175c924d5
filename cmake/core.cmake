# What needs no LibTorch: data, readers, costs, plans, reports, the command line. Starts in milliseconds.
file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS
  base/*.cpp record/*.cpp trace/*.cpp engine/*.cpp profile/*.cpp measure/*.cpp plan/*.cpp snapshot/*.cpp session/*.cpp report/*.cpp
  workbench/*.cpp)
list(FILTER core_sources EXCLUDE REGEX "/trace/torchscript/|/measure/real/")
set(light_sources ${core_sources})  # Rooms that are fast enough at any level.
list(FILTER light_sources INCLUDE REGEX "${CMAKE_CURRENT_SOURCE_DIR}/(engine|session|report)/")
list(REMOVE_ITEM core_sources ${light_sources})
add_library(symprof_core_needs INTERFACE)
target_link_libraries(symprof_core_needs INTERFACE
  symprof_onnx fmt::fmt nlohmann_json::nlohmann_json simdjson::simdjson PkgConfig::libzip PkgConfig::utf8proc ZLIB::ZLIB range-v3::range-v3
  Boost::headers ${CMAKE_DL_LIBS} symprof_warnings)
add_library(symprof_light OBJECT ${light_sources})
target_include_directories(symprof_light PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(symprof_light PRIVATE symprof_core_needs)
add_library(symprof_core SHARED ${core_sources} $<TARGET_OBJECTS:symprof_light>)
add_library(symprof::core ALIAS symprof_core)
target_include_directories(symprof_core PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/symprof>)
target_link_libraries(symprof_core PRIVATE $<BUILD_INTERFACE:symprof_core_needs>)
target_include_directories(symprof_core SYSTEM PRIVATE ${SYMPROF_DEPS}/cuda)  # CUPTI's records.
# Of one file: what else names this folder in its command would be compiled anew in each clone, whatever the cache has.
set_source_files_properties(session/paths.cpp PROPERTIES
  COMPILE_DEFINITIONS SYMPROF_SOURCE_DEVICES="${CMAKE_CURRENT_SOURCE_DIR}/devices" SKIP_UNITY_BUILD_INCLUSION ON)
# Other builds copy it as it is (cmake/core_of_build.cmake) into packages, which have its libraries beside it.
set_target_properties(symprof_core PROPERTIES EXPORT_NAME core BUILD_RPATH "$ORIGIN")

# The command line is objects, so that the tests' server runs it, too (tests/serve/).
file(GLOB cli_sources CONFIGURE_DEPENDS cli/*.cpp)
list(FILTER cli_sources EXCLUDE REGEX "/main\\.cpp$")
add_library(symprof_cli OBJECT ${cli_sources})
target_link_libraries(symprof_cli PUBLIC symprof_core fmt::fmt PRIVATE CLI11::CLI11)
target_compile_definitions(symprof_cli PRIVATE SYMPROF_VERSION="${PROJECT_VERSION}")
add_executable(symprof cli/main.cpp)
target_link_libraries(symprof PRIVATE symprof_cli)

foreach(target symprof_cli symprof)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:symprof_warnings>)
endforeach()
compile_folders_at_once(symprof_core)
compile_folders_at_once(symprof_light)
compile_folders_at_once(symprof_cli)
compile_quickly(symprof_light symprof_cli)
target_precompile_headers(symprof_cli PRIVATE <CLI/CLI.hpp>)
