# SPDX-License-Identifier: Apache-2.0
# CUDA where nvcc is, never required: finds it, says what it found, and makes dsa_cuda for those programs that use a card.
# AUTO takes CUDA when nvcc works and goes on without it otherwise; ON insists; OFF does not look.

set(DSA_CUDA_FOUND FALSE)

# Real code for the cards of 2018 to 2024, and PTX for later ones (41 s for the row updates alone on a busy two-core machine).
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "75-real;80-real;86-real;89-real;90")
endif()

# Sets DSA_CUDA_WHY_NOT to nothing where nvcc can be used.
macro(dsa_look_for_nvcc)
  find_program(DSA_NVCC nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin DOC "NVIDIA's compiler")
  mark_as_advanced(DSA_NVCC)
  set(DSA_CUDA_WHY_NOT "")
  if(NOT DSA_NVCC)
    set(DSA_CUDA_WHY_NOT "nvcc is neither in PATH nor in /usr/local/cuda/bin")
  else()
    if(NOT DEFINED ENV{CUDACXX})
      set(ENV{CUDACXX} ${DSA_NVCC})
    endif()
    include(CheckLanguage)
    set(CMAKE_REQUIRED_QUIET TRUE)
    check_language(CUDA)
    unset(CMAKE_REQUIRED_QUIET)
    if(NOT CMAKE_CUDA_COMPILER)
      set(DSA_CUDA_WHY_NOT "${DSA_NVCC} compiles nothing with this machine's C++ compiler")
    endif()
  endif()
endmacro()

if(NOT DSA_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "DSA_CUDA=${DSA_CUDA}: it can be AUTO, ON or OFF")
endif()
if(DSA_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: off (DSA_CUDA=OFF)")
else()
  dsa_look_for_nvcc()
  if(NOT DSA_CUDA_WHY_NOT)
    enable_language(CUDA)
    find_package(CUDAToolkit)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.0)
      set(DSA_CUDA_WHY_NOT "nvcc ${CMAKE_CUDA_COMPILER_VERSION} knows no C++20; 12.0 or newer does")
    elseif(NOT TARGET CUDA::cudart_static)
      set(DSA_CUDA_WHY_NOT "libcudart_static.a is missing beside ${CMAKE_CUDA_COMPILER}")
    endif()
  endif()
  if(NOT DSA_CUDA_WHY_NOT)
    set(DSA_CUDA_FOUND TRUE)
    # CMake 3.25 knows the nvcc of its day: for 13 it refuses standard 20, or passes -std=c++17 behind a -std=c++20 of ours.
    foreach(kind STANDARD EXTENSION)
      if(NOT CMAKE_CUDA20_${kind}_COMPILE_OPTION)
        set(CMAKE_CUDA20_${kind}_COMPILE_OPTION "-std=c++20")
      endif()
    endforeach()
    message(STATUS "CUDA: on, nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(DSA_CUDA STREQUAL "ON")
    message(FATAL_ERROR "DSA_CUDA=ON, but ${DSA_CUDA_WHY_NOT}")
  else()
    message(STATUS "CUDA: off, ${DSA_CUDA_WHY_NOT}")
  endif()
endif()

# dsa_cuda_layer(): core/device's CUDA half. dsa_device has the rest and knows it only through setCudaBackend.
# The runtime is linked statically and loads the driver at run time: programs start where there is none.
function(dsa_cuda_layer)
  # Not part of dsa_device: the window must not link CUDA.
  get_target_property(sources dsa_device SOURCES)
  list(FILTER sources EXCLUDE REGEX "/cuda_(backend|card)\\.cpp$")
  set_property(TARGET dsa_device PROPERTY SOURCES ${sources})
  if(NOT DSA_CUDA_FOUND)
    return()
  endif()
  # No dsa_options here: they are g++'s.
  add_library(dsa_cuda_kernels STATIC ${PROJECT_SOURCE_DIR}/core/optim/card_kernels.cu)
  set_target_properties(dsa_cuda_kernels PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON)
  target_include_directories(dsa_cuda_kernels PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(dsa_cuda_kernels PRIVATE
    --fmad=false -ftz=false -prec-div=true -prec-sqrt=true -Xcompiler=-Wall,-Wextra,-Wshadow,-ffp-contract=off)
  if(DSA_WERROR)
    target_compile_options(dsa_cuda_kernels PRIVATE -Werror=all-warnings)
  endif()
  # Objects, not an archive: nothing names the initialiser that plugs it in.
  add_library(dsa_cuda OBJECT ${PROJECT_SOURCE_DIR}/core/device/cuda_backend.cpp
    ${PROJECT_SOURCE_DIR}/core/device/cuda_card.cpp)
  target_link_libraries(dsa_cuda PUBLIC dsa_device dsa_cuda_kernels CUDA::cudart_static)
endfunction()

# dsa_use_cuda(TARGET): links CUDA into a program where it was found.
function(dsa_use_cuda target)
  if(DSA_CUDA_FOUND)
    target_link_libraries(${target} PRIVATE dsa_cuda)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()
