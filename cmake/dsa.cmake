# SPDX-License-Identifier: Apache-2.0
# The project's own CMake functions: warnings, one library a layer, one executable a test.

add_library(dsa_options INTERFACE)
target_compile_options(dsa_options INTERFACE
  # One seed gives one table on every machine: no contraction, no errno, no fast math (ARCHITECTURE.md, "Bits").
  -ffp-contract=off -fno-math-errno -fno-trapping-math
  # g++ 12 warns of overlapping copies inside std::string that cannot happen (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(DSA_WERROR)
  target_compile_options(dsa_options INTERFACE -Werror)
endif()
if(DSA_SANITIZE)
  target_compile_options(dsa_options INTERFACE -fsanitize=${DSA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(dsa_options INTERFACE -fsanitize=${DSA_SANITIZE})
endif()
target_include_directories(dsa_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(dsa_options INTERFACE DSA_VERSION="${PROJECT_VERSION}")

# dsa_layer(NAME [DEPS layer...] [LIBS target...]): core/NAME as a static library dsa_NAME.
# Every .cpp of the folder belongs to it. DEPS are layers above it in ARCHITECTURE.md's list.
function(dsa_layer name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(dsa_${name} STATIC ${sources})
  target_link_libraries(dsa_${name} PUBLIC dsa_options Threads::Threads fmt::fmt tl::expected ${ARG_LIBS})
  foreach(dep ${ARG_DEPS})
    target_link_libraries(dsa_${name} PUBLIC dsa_${dep})
  endforeach()
endfunction()

# dsa_test(FILE LAYERS layer... [LABELS label...] [LIBS target...]): one Qt Test executable, one ctest entry.
function(dsa_test file)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LAYERS;LABELS;LIBS" ${ARGN})
  get_filename_component(name ${file} NAME_WE)
  add_executable(${name} ${file})
  set_target_properties(${name} PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE Qt6::Test ${ARG_LIBS})
  target_compile_definitions(${name} PRIVATE
    DSA_TEST_DATA="${PROJECT_SOURCE_DIR}/tests" DSA_RESOURCES="${PROJECT_SOURCE_DIR}/resources"
    DSA_BINARY="${CMAKE_BINARY_DIR}/bin/dsa" DSA_SHARED="${PROJECT_SOURCE_DIR}/../shared")
  foreach(layer ${ARG_LAYERS})
    target_link_libraries(${name} PRIVATE dsa_${layer})
  endforeach()
  # Qt Test compares values of many types: sign and width conversions are checked in the product, not here.
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-Wno-conversion")
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    SKIP_REGULAR_EXPRESSION "SKIP   : [a-zA-Z]+::all")
endfunction()
