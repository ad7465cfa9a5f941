# SPDX-License-Identifier: Apache-2.0
# Options, compiler flags and the libraries that lacis stands on.

set(LACIS_CUDA AUTO CACHE STRING "GPU kernels: AUTO (where nvcc is found), ON, OFF")
set(LACIS_CUDA_KERNELS "" CACHE STRING "Of the folders of kernels/ those whose GPU kernels are built (symv;solve); empty: all")
set(LACIS_MPI AUTO CACHE STRING "Several ranks: AUTO (where MPI is found), ON, OFF")
set(LACIS_LINE_EDITOR AUTO CACHE STRING "Line editing in the shell: AUTO, readline, libedit, none")
set(LACIS_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
option(LACIS_WERROR "Warnings are errors" OFF)
set_property(CACHE LACIS_CUDA PROPERTY STRINGS AUTO ON OFF)
set_property(CACHE LACIS_MPI PROPERTY STRINGS AUTO ON OFF)
set_property(CACHE LACIS_LINE_EDITOR PROPERTY STRINGS AUTO readline libedit none)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX, and __int128 in checked sums
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
endif()

add_library(lacis_flags INTERFACE)
target_compile_options(lacis_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion
  -ffp-contract=off -fno-math-errno -fno-trapping-math $<$<BOOL:${LACIS_WERROR}>:-Werror>)
target_compile_definitions(lacis_flags INTERFACE _GNU_SOURCE)
if(LACIS_SANITIZE)
  target_compile_options(lacis_flags INTERFACE -fsanitize=${LACIS_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(lacis_flags INTERFACE -fsanitize=${LACIS_SANITIZE})
endif()

find_package(SQLite3 3.38 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG) # without it LOAD and SAVE of .png say so
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)
