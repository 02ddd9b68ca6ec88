# Compiles SOURCE with COMPILER, seeing what a user's program sees. A file with lines `// expect: TEXT`
# must be refused with every TEXT in the message; one without must compile without a warning.
file(STRINGS ${SOURCE} lines REGEX "^// expect: ")
execute_process(
  COMMAND ${COMPILER} -std=c++20 -fsyntax-only -Wall -Wextra -Wno-unused-parameter
          -Wno-unused-variable -Wno-unused-value -I${ROOT}/dsl/include -I${ROOT}/runtime/include
          ${SOURCE}
  RESULT_VARIABLE result ERROR_VARIABLE message OUTPUT_VARIABLE message)
if(NOT lines)
  if(NOT result EQUAL 0 OR message)
    message(FATAL_ERROR "expected ${SOURCE} to compile in silence, got\n${message}")
  endif()
  return()
endif()
if(result EQUAL 0)
  message(FATAL_ERROR "expected ${SOURCE} to be refused, but it compiles")
endif()
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^// expect: " "" text "${line}")
  string(FIND "${message}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "expected \"${text}\" in the message for ${SOURCE}, got\n${message}")
  endif()
endforeach()
