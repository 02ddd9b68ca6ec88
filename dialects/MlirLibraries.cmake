# Sets TESSERA_MLIR_LIBRARIES: what a binary with the compiler in it links.
#
# Normally the shared libMLIR and libLLVM: a link takes a second. With TESSERA_STATIC_BUNDLE every
# archive by path instead, because the imported targets of MLIR's components still drag in the shared
# libLLVM where LLVM was packaged with it. lld takes archives in any order, and only the members used.
if(NOT TESSERA_STATIC_BUNDLE)
  set(TESSERA_MLIR_LIBRARIES MLIR LLVM)
  return()
endif()

find_program(TESSERA_LLVM_CONFIG llvm-config HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH REQUIRED)
execute_process(
  COMMAND ${TESSERA_LLVM_CONFIG} --link-static --libfiles
          nvptx x86 core passes orcjit irreader asmparser bitwriter linker transformutils
  OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_archives)

file(GLOB mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "CAPI|Test")
if(NOT mlir_archives)
  message(FATAL_ERROR "expected MLIR's static libraries in ${LLVM_LIBRARY_DIR}, found none: install libmlir-19-dev")
endif()

set(TESSERA_MLIR_LIBRARIES ${mlir_archives} ${llvm_archives})
foreach(name IN ITEMS z zstd tinfo)
  find_library(TESSERA_STATIC_${name} lib${name}.a REQUIRED)
  list(APPEND TESSERA_MLIR_LIBRARIES ${TESSERA_STATIC_${name}})
endforeach()
