# Warnings, linker, cache. Warnings stop a build only when asked to: compilers differ in what they find.
add_library(symprof_warnings INTERFACE)
target_compile_options(symprof_warnings INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string made of a literal (gcc.gnu.org/PR105651, PR105329).
  target_compile_options(symprof_warnings INTERFACE -Wno-restrict -Wno-array-bounds)
endif()
option(SYMPROF_WARNINGS_AS_ERRORS "Stop on a warning" OFF)
if(SYMPROF_WARNINGS_AS_ERRORS)
  target_compile_options(symprof_warnings INTERFACE -Werror)
endif()

# -O3 takes longer to compile than -O2, and runs as fast here.
string(REPLACE -O3 -O2 CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
# A sixth of g++'s time is the search for memory that it could free.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options("SHELL:--param ggc-min-heapsize=1000000" "SHELL:--param ggc-min-expand=1000")
endif()

# For what runs in milliseconds anyway. At -O1 g++ calls values uninitialized that are not.
function(compile_quickly)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1 -Wno-maybe-uninitialized>)
  endforeach()
endfunction()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Precompiled headers: compare their content, not their time stamps.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  add_compile_options(-fpch-preprocess)
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# vptr needs the type information of LibTorch's classes, some of which its libraries do not export.
option(SYMPROF_SANITIZE "Address and undefined-behavior sanitizers" OFF)
if(SYMPROF_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()

# libFuzzer is part of clang; tests/fuzz/ has the targets.
option(SYMPROF_FUZZ "Build the fuzz targets as libFuzzer programs" OFF)
if(SYMPROF_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

# LibTorch is built with NDEBUG. Without it, at::RecordFunction::inputs() checks a member that LibTorch never sets.
set_source_files_properties(shape/step/module_nodes.cpp shape/eager/program_nodes.cpp PROPERTIES COMPILE_DEFINITIONS NDEBUG SKIP_PRECOMPILE_HEADERS ON)

# <sys/mman.h> defines MAP_TYPE, which is a name in onnx's parser.h.
set_source_files_properties(trace/onnx/mapped_file.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# What headers hold costs more than what a file holds: the files of a folder compile in a third of the time that they take
# alone. A folder of few files goes with the other small ones of its room. Where single files are worked on,
# SYMPROF_UNITY=OFF compiles less after each change.
option(SYMPROF_UNITY "Compile the files of a folder together" ON)
set(SYMPROF_UNITY_FILES 20 CACHE STRING "Most files that are compiled together")
set(small_folder 5)

function(folder_of source result)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  cmake_path(GET folder PARENT_PATH folder)
  set(${result} ${folder} PARENT_SCOPE)
endfunction()

function(compile_folders_at_once target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
  foreach(source ${sources})
    folder_of("${source}" folder)
    list(APPEND files_of_${folder} ${source})
  endforeach()
  foreach(source ${sources})
    folder_of(${source} folder)
    set(group ${folder})
    list(LENGTH files_of_${folder} files)
    if(files LESS small_folder AND NOT folder MATCHES "^tests/")
      string(REGEX REPLACE "/.*" "" group ${folder})
    endif()
    if(NOT DEFINED count_of_${group})
      set(count_of_${group} 0)
    endif()
    math(EXPR batch "${count_of_${group}} / ${SYMPROF_UNITY_FILES}")
    math(EXPR count_of_${group} "${count_of_${group}} + 1")
    string(MAKE_C_IDENTIFIER "${group}_${batch}" unit)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${unit})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SYMPROF_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()
