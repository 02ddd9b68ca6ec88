# Script: every public header compiles on its own, with nothing but the installed headers and the
# standard library on the include path: no MLIR, LLVM or CUDA.
#   cmake -DPREFIX= -DCXX= -DBUILD= -P Headers.cmake
file(GLOB_RECURSE headers RELATIVE ${PREFIX}/include ${PREFIX}/include/*.h)
list(LENGTH headers count)
if(count LESS 10)
  message(FATAL_ERROR "expected the public headers in ${PREFIX}/include, got ${count} files")
endif()

set(failed "")
foreach(header IN LISTS headers)
  file(READ ${PREFIX}/include/${header} text)
  if(text MATCHES "#include [<\"](mlir|llvm|cuda|nv)[^>\"]*[>\"]")
    message(SEND_ERROR "${header}: expected no MLIR, LLVM or CUDA header, got ${CMAKE_MATCH_0}")
    set(failed yes)
  endif()
  # From a file of its own: as a main file a header would get away with a missing #pragma once.
  file(WRITE ${BUILD}/alone.cpp "#include <${header}>\n#include <${header}>\n")
  execute_process(
    COMMAND ${CXX} -std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-unused-parameter
            -I${PREFIX}/include ${BUILD}/alone.cpp
    RESULT_VARIABLE result)
  if(result)
    set(failed yes)
  endif()
endforeach()
if(failed)
  message(FATAL_ERROR "not every public header compiles on its own")
endif()
message(STATUS "${count} headers compile on their own")
