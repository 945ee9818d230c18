# SPDX-License-Identifier: Apache-2.0
# Finds the libraries that the build needs, all of them headers only. On a Debian that lacks their packages it takes them
# out of the packages, which needs no root, into the build folder.
set(packages hwy/highway.h:libhwy-dev protozero/version.hpp:libprotozero-dev nlohmann/json.hpp:nlohmann-json3-dev
    CLI/CLI.hpp:libcli11-dev)
set(folder ${CMAKE_BINARY_DIR}/debian)
set(missing "")
foreach(entry ${packages})
  string(REPLACE ":" ";" entry ${entry})
  list(GET entry 0 header)
  list(GET entry 1 package)
  find_path(found_${package} ${header} HINTS ${folder}/usr/include NO_CACHE)
  if(NOT found_${package})
    list(APPEND missing ${package})
  endif()
endforeach()
if(missing)
  list(JOIN missing " " names)
  message(STATUS "Taking headers out of Debian's packages: ${names}")
  file(MAKE_DIRECTORY ${folder})
  foreach(package ${missing})
    execute_process(
      COMMAND sh -c "apt-get download ${package} && dpkg-deb -x ${package}_*.deb ."
      WORKING_DIRECTORY ${folder} OUTPUT_QUIET ERROR_VARIABLE problem RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "Headers are missing: apt-get install ${names}\n${problem}")
    endif()
  endforeach()
endif()
if(EXISTS ${folder}/usr/include)
  include_directories(SYSTEM ${folder}/usr/include)
endif()
