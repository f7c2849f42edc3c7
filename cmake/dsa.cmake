# SPDX-License-Identifier: Apache-2.0
# The project's own CMake functions: warnings, one library a layer, one executable a test.

add_library(dsa_options INTERFACE)
target_compile_options(dsa_options INTERFACE
  # One seed gives one table on every machine: no contraction, no errno, no fast math (ARCHITECTURE.md, "Bits").
  -ffp-contract=off -fno-math-errno -fno-trapping-math
  # g++ 12 warns of overlapping copies inside std::string that cannot happen (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  -Wall -Wextra -Wpedantic -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  # A target that sets DSA_QT: Qt's macros and inline code convert and shadow freely, and at -O1 g++ 12 sees reads of empty
  # std::optional that are none (GCC bug 80635).
  $<IF:$<BOOL:$<TARGET_PROPERTY:DSA_QT>>,$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>,-Wshadow;-Wconversion>)
if(DSA_WERROR)
  target_compile_options(dsa_options INTERFACE -Werror)
endif()
if(DSA_SANITIZE)
  target_compile_options(dsa_options INTERFACE -fsanitize=${DSA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(dsa_options INTERFACE -fsanitize=${DSA_SANITIZE})
endif()
target_include_directories(dsa_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(dsa_options INTERFACE DSA_VERSION="${PROJECT_VERSION}")

# Files of a library are compiled several at a time: most of a file's time is the headers that all of them read. Files
# with options of their own (instruction sets) stay alone. A missing include is found with DSA_UNITY=OFF.
function(dsa_unity target batch)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DSA_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

# dsa_layer(NAME [DEPS layer...] [LIBS target...]): core/NAME as a static library dsa_NAME.
# Every .cpp of the folder belongs to it. DEPS are layers above it in ARCHITECTURE.md's list.
function(dsa_layer name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(dsa_${name} STATIC ${sources})
  dsa_unity(dsa_${name} 6)
  target_link_libraries(dsa_${name} PUBLIC dsa_options Threads::Threads fmt::fmt tl::expected ${ARG_LIBS})
  foreach(dep ${ARG_DEPS})
    target_link_libraries(dsa_${name} PUBLIC dsa_${dep})
  endforeach()
endfunction()

# What every test is compiled with. Qt Test's headers take longer to read than most tests do: they are precompiled once.
function(dsa_test_options)
  add_library(dsa_test_options INTERFACE)
  target_link_libraries(dsa_test_options INTERFACE dsa_options Threads::Threads fmt::fmt tl::expected
    nlohmann_json::nlohmann_json Qt6::Test)
  target_compile_definitions(dsa_test_options INTERFACE
    DSA_TEST_DATA="${PROJECT_SOURCE_DIR}/tests" DSA_RESOURCES="${PROJECT_SOURCE_DIR}/resources"
    DSA_BINARY="${CMAKE_BINARY_DIR}/bin/dsa" DSA_SHARED="${PROJECT_SOURCE_DIR}/../shared")
  # Their own code needs no speed, but two cores compile it four times. Qt Test's two folder macros differ between
  # folders, and a precompiled header takes no such macro.
  target_compile_options(dsa_test_options INTERFACE -O1 -UQT_TESTCASE_BUILDDIR -UQT_TESTCASE_SOURCEDIR)
  add_executable(dsa_test_headers ${CMAKE_CURRENT_SOURCE_DIR}/headers.cpp)
  target_link_libraries(dsa_test_headers PRIVATE dsa_test_options)
  # What nearly every test needs: with all of Qt Test and nlohmann-json it had 281 MB, which took each test 0.9 s more to
  # load than these.
  set(headers <QTest> <fmt/format.h> <tl/expected.hpp> <algorithm> <functional> <memory> <optional> <string> <vector>)
  target_precompile_headers(dsa_test_headers PRIVATE ${headers})
  if(DSA_WINDOW)
    # With widgets QTEST_MAIN makes a QApplication: another macro, hence another header.
    add_executable(dsa_window_test_headers ${CMAKE_CURRENT_SOURCE_DIR}/headers.cpp)
    target_link_libraries(dsa_window_test_headers PRIVATE dsa_test_options dsa_ui)
    target_precompile_headers(dsa_window_test_headers PRIVATE <QtWidgets> ${headers})
  endif()
endfunction()

# dsa_test(FILE LAYERS layer... [LABELS label...] [LIBS target...] [TIMEOUT s] [WINDOW]): one Qt Test executable, one ctest entry.
# WINDOW: it links the window and runs without a display.
function(dsa_test file)
  cmake_parse_arguments(ARG "WINDOW" "TIMEOUT" "LAYERS;LABELS;LIBS" ${ARGN})
  get_filename_component(name ${file} NAME_WE)
  # The test's meta-object stands in the file itself (#include "NAME.moc"): one call of moc, where AUTOMOC would add a scan
  # and an empty translation unit to each of a hundred tests.
  set(moc ${CMAKE_CURRENT_BINARY_DIR}/${name}.moc)
  add_executable(${name} ${file} ${moc})
  qt6_generate_moc(${CMAKE_CURRENT_SOURCE_DIR}/${file} ${moc} TARGET ${name})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE dsa_test_options ${ARG_LIBS})
  if(ARG_WINDOW)
    target_link_libraries(${name} PRIVATE dsa_ui)
    target_compile_definitions(${name} PRIVATE DSA_LAB="${CMAKE_BINARY_DIR}/bin/dsa-lab")
    target_precompile_headers(${name} REUSE_FROM dsa_window_test_headers)
  else()
    target_precompile_headers(${name} REUSE_FROM dsa_test_headers)
  endif()
  foreach(layer ${ARG_LAYERS})
    target_link_libraries(${name} PRIVATE dsa_${layer})
  endforeach()
  # Qt Test compares values of many types: sign and width conversions are checked in the product, not here. g++ 12 sees
  # copies beyond the end of short strings that cannot happen (GCC bug 105651 again).
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-Wno-conversion;-Wno-array-bounds;-Wno-stringop-overflow")
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    SKIP_REGULAR_EXPRESSION "SKIP   : [a-zA-Z]+::all")
  if(ARG_WINDOW)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8")
  endif()
endfunction()
