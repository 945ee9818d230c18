# SPDX-License-Identifier: Apache-2.0
# Compiler settings that all targets share, and max_folder: one target per source folder.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG -ffunction-sections")  # what nobody calls is left out
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1")
set(CMAKE_C_FLAGS_SANITIZE "-O1")
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # which takes half the time without optimisation; GCC does not
  set(CMAKE_CXX_FLAGS_SANITIZE "-O0")
endif()

find_program(MAX_CCACHE ccache)
if(MAX_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MAX_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${MAX_CCACHE})
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(max_settings INTERFACE)
target_include_directories(max_settings INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(max_settings INTERFACE -Wall -Wextra -Wshadow -Wpointer-arith -fvisibility=hidden
                       $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-unknown-pragmas;-Wzero-as-null-pointer-constant;-Wsuggest-override>
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-fvisibility-inlines-hidden>
                       $<$<BOOL:${MAX_WARNINGS_AS_ERRORS}>:-Werror>)
# GCC would clear structures of a hundred bytes with an instruction that takes as long as a small operator.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(max_settings INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign>)
endif()
target_link_libraries(max_settings INTERFACE Threads::Threads)
target_link_libraries(max_settings INTERFACE max_sanitizers)

# For all code under sanitizers.
add_library(max_sanitizers INTERFACE)
if(MAX_SANITIZE)
  # One kernel target is enough to find faults, and keeps these builds short.
  target_compile_definitions(max_settings INTERFACE MAX_ONE_KERNEL_TARGET)
  target_compile_options(max_sanitizers INTERFACE -fsanitize=${MAX_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(max_sanitizers INTERFACE -fsanitize=${MAX_SANITIZE})
  if(MAX_SANITIZE MATCHES "undefined")
    target_compile_options(max_sanitizers INTERFACE -fno-sanitize-recover=undefined)
    if(NOT MAX_SHARED_SANITIZER)
      # ./dev nightly also looks at these: two whose faults the address sanitizer meets, and two that are none on this
      # processor. They take a third of a build.
      target_compile_options(max_sanitizers INTERFACE -fno-sanitize=null,object-size,alignment,pointer-overflow)
    endif()
  endif()
  foreach(name address thread)
    if(MAX_SANITIZE MATCHES ${name})
      string(TOUPPER __SANITIZE_${name}__ macro)
      target_compile_definitions(max_sanitizers INTERFACE $<$<C_COMPILER_ID:Clang>:${macro}>)  # as GCC tells
    endif()
  endforeach()
  if(MAX_SHARED_SANITIZER)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
                    OUTPUT_VARIABLE MAX_SANITIZER_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    get_filename_component(folder ${MAX_SANITIZER_RUNTIME} DIRECTORY)
    target_link_options(max_sanitizers INTERFACE -shared-libasan -Wl,-rpath,${folder})
  endif()
  if(MAX_FUZZ)
    # Handles of drivers are plain pointers here; and C programs do not bring what looking at C++ classes asks for.
    target_compile_options(max_sanitizers INTERFACE -fno-sanitize=function,vptr)
    target_link_options(max_sanitizers INTERFACE -fuse-ld=lld)
  endif()
endif()

# Most of a small file's compile time is headers: reading the common ones once halves a fresh build. Headers must still
# include what they use; builds with this option off (the default) see to it.
# What max_NAME precompiles; folders that are not here take those of another, whose flags are the same.
set(MAX_STANDARD_HEADERS <algorithm> <array> <atomic> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory>
    <optional> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
set(MAX_HEADERS_base ${MAX_STANDARD_HEADERS})
set(MAX_HEADERS_graph ${MAX_STANDARD_HEADERS} <graph/composite.h> <graph/schema.h>)
set(MAX_HEADERS_compiler ${MAX_STANDARD_HEADERS} <compiler/passes.h>)
set(MAX_HEADERS_executor ${MAX_STANDARD_HEADERS} <executor/model.h>)
set(MAX_HEADERS_ops ${MAX_STANDARD_HEADERS} <ops/families.h>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(APPEND MAX_HEADERS_ops <immintrin.h>)  # GCC warns of what these do, unless Highway includes them
endif()
set(MAX_HEADERS_OF_device base)
set(MAX_HEADERS_OF_kernel base)
set(MAX_HEADERS_OF_onnx graph)
set(MAX_HEADERS_OF_extension executor)
set(MAX_HEADERS_OF_loader executor)
set(MAX_HEADERS_OF_max executor)
function(max_precompile target)
  if(NOT MAX_PRECOMPILED_HEADERS)
    return()
  endif()
  string(REGEX REPLACE "^max_" "" name ${target})
  if(MAX_HEADERS_${name})
    target_precompile_headers(${target} PRIVATE ${MAX_HEADERS_${name}})
  else()
    target_precompile_headers(${target} REUSE_FROM max_${MAX_HEADERS_OF_${name}})
  endif()
endfunction()

# Likewise for the unit tests: one set of headers serves all.
function(max_precompile_test target)
  if(MAX_PRECOMPILED_HEADERS AND TARGET max_unit_headers)
    target_precompile_headers(${target} REUSE_FROM max_unit_headers)
  elseif(MAX_PRECOMPILED_HEADERS)
    add_library(max_unit_headers OBJECT ${PROJECT_SOURCE_DIR}/tests/unit/precompiled.cpp)
    target_link_libraries(max_unit_headers PRIVATE max_settings GTest::gtest_main)
    # As for programs: GCC takes precompiled headers only with equal settings.
    set_target_properties(max_unit_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(max_unit_headers PRIVATE -fPIE)
    target_precompile_headers(max_unit_headers PRIVATE <gtest/gtest.h> <cmath> <functional> <map> <string> <unordered_map>
                              <compiler/passes.h> <executor/model.h> <ops/operator_library.h>)
    target_precompile_headers(${target} REUSE_FROM max_unit_headers)
  endif()
endfunction()

# Fuzzers look for inputs that take new ways through the code. That of kernels is not counted: it would take long to compile.
function(max_guide_fuzzers target)
  if(MAX_FUZZ AND NOT target STREQUAL max_ops)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Folders whose code runs once per load: its size counts.
set(MAX_SMALL_FOLDERS graph onnx)

# max_folder(name dependency...): a static library of all sources below the current folder.
function(max_folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  if(NOT sources)
    add_library(max_${name} INTERFACE)
    target_link_libraries(max_${name} INTERFACE max_settings)
    return()
  endif()
  add_library(max_${name} STATIC ${sources})
  target_link_libraries(max_${name} PUBLIC max_settings)
  if(name IN_LIST MAX_SMALL_FOLDERS)
    target_compile_options(max_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  max_guide_fuzzers(max_${name})
  max_precompile(max_${name})
  foreach(dependency ${ARGN})
    target_link_libraries(max_${name} PUBLIC max_${dependency})
  endforeach()
endfunction()

# For programs that may use the public headers only.
add_library(max_cli_settings INTERFACE)
target_compile_options(max_cli_settings INTERFACE -Wall -Wextra -Wshadow
                       $<$<BOOL:${MAX_WARNINGS_AS_ERRORS}>:-Werror>)
target_link_libraries(max_cli_settings INTERFACE max_sanitizers)
