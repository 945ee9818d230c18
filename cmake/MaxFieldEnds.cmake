# SPDX-License-Identifier: Apache-2.0
# Writes where the fields of all public structures end: cmake -DINCLUDE=FOLDER -DOUTPUT=FILE -P MaxFieldEnds.cmake
set(text "// Made by cmake/MaxFieldEnds.cmake from the public headers.\n#pragma once

#include <cstddef>

#include \"max/max.h\"

namespace max::capi {

struct FieldEnd {
  size_t end;  // the bytes up to the end of the field
  const char* name;
};

template <class Struct>
inline constexpr FieldEnd kFieldEnds[] = {{}};

")
file(GLOB headers ${INCLUDE}/max/*.h)
foreach(header ${headers})
  file(READ ${header} code)
  string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" code "${code}")
  # What CMake's lists would take for their own.
  string(REPLACE ";" "@" code "${code}")
  string(REGEX REPLACE "\\[[^]]*\\]" "" code "${code}")
  string(REGEX MATCHALL "typedef struct Max[A-Za-z0-9]+ {[^}]*}" structures "${code}")
  foreach(structure ${structures})
    string(REGEX REPLACE "typedef struct (Max[A-Za-z0-9]+) .*" "\\1" name "${structure}")
    string(REGEX MATCHALL "[A-Za-z0-9]+@" fields "${structure}")
    string(APPEND text "template <>\ninline constexpr FieldEnd kFieldEnds<${name}>[] = {\n")
    foreach(field ${fields})
      string(REPLACE "@" "" field ${field})
      string(APPEND text "    {offsetof(${name}, ${field}) + sizeof(${name}::${field}), \"${field}\"},\n")
    endforeach()
    string(APPEND text "};\n\n")
  endforeach()
endforeach()
file(WRITE ${OUTPUT} "${text}}  // namespace max::capi\n")
