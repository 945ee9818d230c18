# SPDX-License-Identifier: Apache-2.0
# max_embed(output name file...): a C++ source with each file's bytes as `const unsigned char name[]` and `name_size`.
function(max_embed output)
  set(text "// Generated.\n#include <cstddef>\n")
  list(LENGTH ARGN count)
  math(EXPR last "${count} - 1")
  foreach(index RANGE 0 ${last} 2)
    math(EXPR next "${index} + 1")
    list(GET ARGN ${index} name)
    list(GET ARGN ${next} file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND text "extern const unsigned char ${name}[];\nextern const size_t ${name}_size;\n"
                       "const unsigned char ${name}[] = {${bytes}};\nconst size_t ${name}_size = sizeof ${name};\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()
