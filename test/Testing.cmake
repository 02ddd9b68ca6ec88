# How tests are added: tessera_add_lit_tests() and tessera_add_gtest(). Each test/<area>/CMakeLists.txt
# calls them for its own folder.
find_package(GTest REQUIRED)
include(GoogleTest)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

find_program(TESSERA_LIT NAMES lit.py llvm-lit lit
  HINTS /usr/lib/llvm-19/build/utils/lit ${PROJECT_BINARY_DIR}/tools/bin)
find_program(TESSERA_FILECHECK FileCheck HINTS /usr/lib/llvm-19/bin)
if(NOT TESSERA_LIT OR NOT TESSERA_FILECHECK)
  message(FATAL_ERROR "the tests need lit and FileCheck: install llvm-19-tools, or run ./dev setup")
endif()
cmake_path(GET TESSERA_FILECHECK PARENT_PATH TESSERA_LLVM_BIN)

# Optional: tests that assemble PTX ask for the feature `assembler`.
find_program(TESSERA_PTXAS ptxas
  HINTS ENV TESSERA_CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)

configure_file(lit.site.cfg.py.in ${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py @ONLY)
set(TESSERA_TEST_SOURCE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
set(TESSERA_TEST_BINARY_DIR ${CMAKE_CURRENT_BINARY_DIR})

# Every .mlir, .test and .ptx file below this folder becomes the ctest test lit/<its path>. A file that
# asks for a feature which is missing here is reported as skipped. Nothing in a static bundle.
# Times are not recorded: all processes would write one file at once.
function(tessera_add_lit_tests)
  if(TESSERA_STATIC_BUNDLE)
    return()
  endif()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${TESSERA_TEST_SOURCE_DIR}
    ${CMAKE_CURRENT_SOURCE_DIR}/*.mlir ${CMAKE_CURRENT_SOURCE_DIR}/*.test
    ${CMAKE_CURRENT_SOURCE_DIR}/*.ptx)
  foreach(file IN LISTS files)
    if(file MATCHES "/Inputs/")
      continue()
    endif()
    add_test(NAME lit/${file}
      COMMAND ${Python3_EXECUTABLE} ${TESSERA_LIT} -v -j1 --skip-test-time-recording
              ${TESSERA_TEST_BINARY_DIR}/${file})
    set_tests_properties(lit/${file} PROPERTIES
      TIMEOUT 300 SKIP_REGULAR_EXPRESSION "UNSUPPORTED: ")
  endforeach()
endfunction()

# tessera_add_gtest(name SOURCES a.cpp... [LINK lib...] [USES_MLIR] [WHOLE] [BUNDLE] [TIMEOUT seconds])
# Builds bin/<name> and adds every case as the ctest test <name>/<case>.
#   USES_MLIR  the files include MLIR headers; they reuse the precompiled one
#   WHOLE      one ctest test for the binary: for many short cases that share an expensive start
#   BUNDLE     the suite has cases for a GPU: it also goes into the static bundle (`./dev gpu-bundle`),
#              where all suites share one main(), so it must not define its own
# GTEST_SKIP() << "no GPU here" marks a case as skipped.
function(tessera_add_gtest name)
  cmake_parse_arguments(ARG "USES_MLIR;WHOLE;BUNDLE" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(TESSERA_STATIC_BUNDLE)
    if(NOT ARG_BUNDLE)
      return()
    endif()
    add_library(${name} OBJECT ${ARG_SOURCES})
    set_property(GLOBAL APPEND PROPERTY TESSERA_BUNDLED_SUITES ${name})
  else()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest)
  if(ARG_USES_MLIR)
    target_link_libraries(${name} PRIVATE tessera_mlir_options)
    target_precompile_headers(${name} REUSE_FROM tessera_pch)
  endif()
  if(TESSERA_STATIC_BUNDLE)
    return()
  endif()
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  else()
    gtest_discover_tests(${name} TEST_PREFIX ${name}/ DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()
