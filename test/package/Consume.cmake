# Script: builds test/docs/project against an installed tree with one compiler, runs it on the
# CPU, and prints how long its one file took to compile.
#   cmake -DSOURCE= -DBUILD= -DPREFIX= -DCXX= -P Consume.cmake
file(REMOVE_RECURSE ${BUILD})
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -DCMAKE_BUILD_TYPE=Release
          -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER= -DCMAKE_PREFIX_PATH=${PREFIX}
          -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
  COMMAND_ERROR_IS_FATAL ANY)

# What the user includes may lean on nothing that only a developer of Tessera has.
file(READ ${BUILD}/compile_commands.json commands)
if(commands MATCHES "mlir|llvm-[0-9]+/include|cuda")
  message(FATAL_ERROR "expected no MLIR, LLVM or CUDA include path, got ${commands}")
endif()

# For the log; a timing never decides.
execute_process(
  COMMAND bash -c "TIMEFORMAT='compiled and linked: %U s of processor time, %R s in all'; time \"$@\""
          time ${CMAKE_COMMAND} --build ${BUILD}
  COMMAND_ERROR_IS_FATAL ANY)

# The compiler is loaded when it is needed; nothing of it, and nothing of CUDA, is linked.
execute_process(COMMAND ldd ${BUILD}/mine OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
if(NOT needed MATCHES "libtessera\\.so" OR needed MATCHES "libLLVM|libMLIR|libtessera_compiler|libcu")
  message(FATAL_ERROR "expected libtessera.so and no compiler or CUDA library, got ${needed}")
endif()

execute_process(
  COMMAND ${CMAKE_COMMAND} -E env TESSERA_TARGET=cpu TESSERA_CACHE_DIR=${BUILD}/cache ${BUILD}/mine
  COMMAND_ERROR_IS_FATAL ANY)
