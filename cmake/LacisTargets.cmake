# SPDX-License-Identifier: Apache-2.0
# How the tree becomes targets. Each folder is an object library that is given only the include directories it may
# use, so an include against the grain fails to compile:
#   kernels/X  sees kernels/common and itself      engine/*  see engine/ (and common, for the thread team)
#   operators/X, loaders  see lacis.h and lacis_extend.h through build/include, plus their kernels
# Of the engine, layers marked CUDA alone see the CUDA runtime's headers, and get LACIS_HAVE_CUDA.

# The two headers that code outside engine/ may see, apart from the rest of engine/.
set(LACIS_SDK_DIR "${CMAKE_BINARY_DIR}/sdk")
file(MAKE_DIRECTORY "${LACIS_SDK_DIR}")
foreach(header lacis.h lacis_extend.h lacis_extend_batch.h lacis_extend_bodies.h lacis_extend_expr.h lacis_extend_gpu.h lacis_extend_grid.h
        lacis_extend_ranks.h lacis_extend_save.h lacis_extend_symmetric.h lacis_extend_tune.h)
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/engine/${header}" "${LACIS_SDK_DIR}/${header}" SYMBOLIC)
endforeach()

set(LACIS_OBJECTS "" CACHE INTERNAL "object libraries of liblacis")
set(LACIS_LINKS "" CACHE INTERNAL "libraries of liblacis")
set(LACIS_OPS "" CACHE INTERNAL "operators for the registry")
set(LACIS_GPU_OBJECTS "" CACHE INTERNAL "objects of GPU kernels for liblacis")
set(LACIS_GPU_KERNELS "" CACHE INTERNAL "folders of kernels/ that have .cu files, where these are compiled")

function(lacis_object name)
  target_compile_options(${name} PRIVATE $<TARGET_PROPERTY:lacis_flags,INTERFACE_COMPILE_OPTIONS>)
  target_compile_definitions(${name} PRIVATE $<TARGET_PROPERTY:lacis_flags,INTERFACE_COMPILE_DEFINITIONS>)
  set(LACIS_OBJECTS ${LACIS_OBJECTS} ${name} CACHE INTERNAL "")
endfunction()

# Text files as C string constants: lacis_text_NAME. Further arguments: files that go into it.
function(lacis_embed target file)
  get_filename_component(name "${file}" NAME)
  string(MAKE_C_IDENTIFIER "${name}" id)
  set(out "${CMAKE_BINARY_DIR}/embedded/${id}.c")
  add_custom_command(OUTPUT "${out}"
    COMMAND ${CMAKE_COMMAND} -DIN=${CMAKE_SOURCE_DIR}/${file} -DOUT=${out} -DID=${id}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS "${CMAKE_SOURCE_DIR}/${file}" "${CMAKE_SOURCE_DIR}/cmake/embed.cmake" ${ARGN} VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()

function(lacis_layer name)
  cmake_parse_arguments(arg "CUDA" "" "SOURCES;INCLUDES;LIBRARIES;EMBED" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${arg_SOURCES}/*.c")
  add_library(lacis_${name} OBJECT ${files})
  lacis_object(lacis_${name})
  foreach(include ${arg_INCLUDES})
    if(include STREQUAL "kernels_common")
      target_include_directories(lacis_${name} PRIVATE "${CMAKE_SOURCE_DIR}/kernels")
    else()
      target_include_directories(lacis_${name} PRIVATE "${CMAKE_SOURCE_DIR}/${include}")
    endif()
  endforeach()
  foreach(library ${arg_LIBRARIES})
    target_include_directories(lacis_${name} SYSTEM PRIVATE
      $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>)
  endforeach()
  foreach(text ${arg_EMBED})
    lacis_embed(lacis_${name} "${text}")
  endforeach()
  if(arg_CUDA AND LACIS_HAVE_CUDA)
    target_compile_definitions(lacis_${name} PRIVATE LACIS_HAVE_CUDA)
    target_include_directories(lacis_${name} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  endif()
  if(name STREQUAL "kernels_common" AND NOT LACIS_SANITIZE STREQUAL "thread")
    target_compile_options(lacis_kernels_common PRIVATE ${OpenMP_C_FLAGS})
  endif()
endfunction()

# kernels/NAME/*.cu. Multiplications and additions are not fused, as in the C code (-ffp-contract=off): results have the
# bits of the CPU's where the order of operations is the same. All of it becomes one object in which only lacis_ names are
# global; as it is no CUDA code to CMake, what it goes into is linked as C, without libstdc++. (What CUB's templates keep
# for a whole program is weakened first: objcopy does not make unique symbols local, but weak ones it does.)
function(lacis_add_gpu_kernels name)
  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/${name}/*.cu")
  if(NOT LACIS_HAVE_CUDA OR NOT files OR (LACIS_CUDA_KERNELS AND NOT name IN_LIST LACIS_CUDA_KERNELS))
    return()
  endif()
  set(kernels lacis_kernels_${name}_gpu)
  add_library(${kernels} OBJECT ${files})
  target_include_directories(${kernels} PRIVATE "${CMAKE_SOURCE_DIR}/kernels")
  set_target_properties(${kernels} PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_VISIBILITY_PRESET hidden)
  # CUB without what would need libstdc++: exceptions, profiler ranges, and <iostream>, whose guard is taken as defined.
  target_compile_definitions(${kernels} PRIVATE CCCL_DISABLE_EXCEPTIONS CCCL_DISABLE_NVTX NVTX_DISABLE _GLIBCXX_IOSTREAM)
  # A third of the size (symv: 57 MB with what nvcc does by itself); each family is unpacked once, when its kernels are
  # first used. (CUDA 12 has it in its last releases, but then asks for newer drivers than otherwise.)
  target_compile_options(${kernels} PRIVATE --fmad=false --expt-relaxed-constexpr
    $<$<VERSION_GREATER_EQUAL:$<CUDA_COMPILER_VERSION>,13.0>:--compress-mode=size>
    -Xcompiler=-Wall,-fno-exceptions,-fno-rtti $<$<BOOL:${LACIS_WERROR}>:--Werror=all-warnings>)
  set(object "${CMAKE_BINARY_DIR}/gpu/${name}.o")
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/gpu")
  add_custom_command(OUTPUT "${object}"
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o "${object}.all" $<TARGET_OBJECTS:${kernels}>
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--weaken-symbol=_Z*" "${object}.all" "${object}.weak"
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=lacis_*" "${object}.weak" "${object}"
    DEPENDS ${kernels} $<TARGET_OBJECTS:${kernels}> COMMAND_EXPAND_LISTS VERBATIM)
  set(LACIS_GPU_OBJECTS ${LACIS_GPU_OBJECTS} "${object}" CACHE INTERNAL "")
  set(LACIS_GPU_KERNELS ${LACIS_GPU_KERNELS} ${name} CACHE INTERNAL "")
endfunction()

# kernels/NAME/*.c. Files called *.isa.c are compiled three times, for x86-64, AVX2 and AVX-512, with LACIS_ISA(x) giving
# each its own names; which one runs is chosen when the program runs.
function(lacis_add_kernels name)
  file(GLOB all CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/${name}/*.c")
  set(plain ${all})
  list(FILTER plain EXCLUDE REGEX "\\.isa\\.c$")
  set(isa ${all})
  list(FILTER isa INCLUDE REGEX "\\.isa\\.c$")
  set(include "${CMAKE_SOURCE_DIR}/kernels")
  if(plain)
    add_library(lacis_kernels_${name} OBJECT ${plain})
    lacis_object(lacis_kernels_${name})
    target_include_directories(lacis_kernels_${name} PRIVATE "${include}")
  endif()
  if(isa)
    set(flags_baseline "")
    set(flags_avx2 -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt -mtune=haswell)
    set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mavx2 -mfma -mbmi -mbmi2 -mlzcnt -mpopcnt
      -mprefer-vector-width=512 -mtune=skylake-avx512)
    foreach(set baseline avx2 avx512)
      add_library(lacis_kernels_${name}_${set} OBJECT ${isa})
      lacis_object(lacis_kernels_${name}_${set})
      target_include_directories(lacis_kernels_${name}_${set} PRIVATE "${include}")
      target_compile_options(lacis_kernels_${name}_${set} PRIVATE ${flags_${set}})
      target_compile_definitions(lacis_kernels_${name}_${set} PRIVATE LACIS_ISA_NAME=${set})
    endforeach()
  endif()
  file(GLOB written RELATIVE "${CMAKE_SOURCE_DIR}" CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/${name}/gpu_*written.cuh")
  if(LACIS_HAVE_CUDA AND written) # what NVRTC gets
    file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/kernels/${name}/*.cuh")
    foreach(file ${written})
      lacis_embed(lacis_kernels_${name} "${file}" ${headers})
    endforeach()
  endif()
  lacis_add_gpu_kernels(${name})
endfunction()

# operators/NAME/*.c; op.c holds `const lacis_op lacis_op_NAME`. LACIS_GPU_KERNELS is defined where the GPU kernels that it
# calls are in this build.
function(lacis_add_operator name)
  cmake_parse_arguments(arg "" "" "KERNELS" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/operators/${name}/*.c")
  add_library(lacis_operator_${name} OBJECT ${files})
  lacis_object(lacis_operator_${name})
  target_include_directories(lacis_operator_${name} PRIVATE "${LACIS_SDK_DIR}" "${CMAKE_SOURCE_DIR}/kernels"
    "${CMAKE_SOURCE_DIR}/operators")
  if(arg_KERNELS IN_LIST LACIS_GPU_KERNELS)
    target_compile_definitions(lacis_operator_${name} PRIVATE LACIS_GPU_KERNELS)
    if(EXISTS "${CMAKE_SOURCE_DIR}/kernels/${arg_KERNELS}/gpu_written.cuh")
      target_compile_definitions(lacis_operator_${name} PRIVATE LACIS_GPU_WRITTEN)
    endif()
  endif()
  set(LACIS_OPS ${LACIS_OPS} ${name} CACHE INTERNAL "")
endfunction()

# Every loaders/NAME.c defines `const lacis_loader lacis_loader_NAME`; every loaders/generate_NAME.c
# `const lacis_generator lacis_generator_NAME`; other files there start with common_.
function(lacis_add_loaders)
  file(GLOB files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/loaders/*.c")
  add_library(lacis_loaders OBJECT ${files})
  lacis_object(lacis_loaders)
  target_include_directories(lacis_loaders PRIVATE "${LACIS_SDK_DIR}" "${CMAKE_SOURCE_DIR}/loaders")
  if(PNG_FOUND)
    target_include_directories(lacis_loaders SYSTEM PRIVATE $<TARGET_PROPERTY:PNG::PNG,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(lacis_loaders PRIVATE LACIS_HAVE_PNG)
  endif()
endfunction()

function(lacis_registry out)
  file(GLOB files RELATIVE "${CMAKE_SOURCE_DIR}/loaders" CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/loaders/*.c")
  set(text "/* Generated by CMake: the descriptors built into this library. */\n#include \"core/registry.h\"\n")
  set(op_list "")
  foreach(op ${LACIS_OPS})
    string(APPEND text "extern const lacis_op lacis_op_${op};\n")
    string(APPEND op_list "&lacis_op_${op}, ")
  endforeach()
  set(loader_list "")
  set(generator_list "")
  foreach(file ${files})
    get_filename_component(base "${file}" NAME_WE)
    if(base MATCHES "^generate_(.*)$")
      string(APPEND text "extern const lacis_generator lacis_generator_${CMAKE_MATCH_1};\n")
      string(APPEND generator_list "&lacis_generator_${CMAKE_MATCH_1}, ")
    elseif(NOT base MATCHES "^common_")
      string(APPEND text "extern const lacis_loader lacis_loader_${base};\n")
      string(APPEND loader_list "&lacis_loader_${base}, ")
    endif()
  endforeach()
  string(APPEND text "const lacis_op *const lacis_builtin_ops[] = {${op_list}NULL};\n")
  string(APPEND text "const lacis_loader *const lacis_builtin_loaders[] = {${loader_list}NULL};\n")
  string(APPEND text "const lacis_generator *const lacis_builtin_generators[] = {${generator_list}NULL};\n")
  file(CONFIGURE OUTPUT "${out}" CONTENT "${text}" @ONLY)
endfunction()

# The library out of all the objects: shared (lacis::lacis) and static (lacis::lacis_static).
function(lacis_library)
  set(registry "${CMAKE_BINARY_DIR}/registry.c")
  lacis_registry("${registry}")
  add_library(lacis_registry OBJECT "${registry}")
  lacis_object(lacis_registry)
  target_include_directories(lacis_registry PRIVATE "${CMAKE_SOURCE_DIR}/engine")
  set(objects "")
  foreach(object ${LACIS_OBJECTS})
    list(APPEND objects $<TARGET_OBJECTS:${object}>)
  endforeach()
  set(links SQLite::SQLite3 ZLIB::ZLIB Threads::Threads m)
  if(PNG_FOUND)
    list(APPEND links PNG::PNG)
  endif()
  if(NOT LACIS_SANITIZE STREQUAL "thread")
    list(APPEND links OpenMP::OpenMP_C)
  endif()
  if(LACIS_HAVE_CUDA)
    list(APPEND links CUDA::cudart_static supc++) # an archive: guards of statics, of all C++ the only thing needed
  endif()
  add_custom_target(lacis_gpu_objects DEPENDS ${LACIS_GPU_OBJECTS})
  add_library(lacis_shared SHARED ${objects} ${LACIS_GPU_OBJECTS})
  add_library(lacis_static STATIC ${objects} ${LACIS_GPU_OBJECTS})
  add_dependencies(lacis_shared lacis_gpu_objects)
  add_dependencies(lacis_static lacis_gpu_objects)
  add_library(lacis::lacis ALIAS lacis_shared)
  add_library(lacis::lacis_static ALIAS lacis_static)
  set_target_properties(lacis_shared PROPERTIES OUTPUT_NAME lacis EXPORT_NAME lacis VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR})
  set_target_properties(lacis_static PROPERTIES OUTPUT_NAME lacis)
  target_link_libraries(lacis_shared PRIVATE ${links})
  target_link_libraries(lacis_static PRIVATE ${links})
  if(LACIS_HAVE_CUDA)
    # Names of the runtimes stay inside.
    target_link_options(lacis_shared PRIVATE LINKER:--exclude-libs,ALL)
  endif()
  foreach(target lacis_shared lacis_static)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${LACIS_SDK_DIR}>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    if(LACIS_SANITIZE)
      target_link_options(${target} PUBLIC -fsanitize=${LACIS_SANITIZE})
    endif()
  endforeach()
endfunction()

# liblacis_ranks, beside the library: the module that speaks MPI, loaded where lacis runs as one of several processes.
function(lacis_ranks_module)
  set(to_lib "../${CMAKE_INSTALL_LIBDIR}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(to_lib "${CMAKE_INSTALL_FULL_LIBDIR}")
  endif()
  set_source_files_properties(engine/core/ranks_load.c PROPERTIES
    COMPILE_DEFINITIONS "LACIS_RANKS_DIRS=\".\",\"${to_lib}\",\"${CMAKE_INSTALL_FULL_LIBDIR}\"")
  if(NOT LACIS_HAVE_MPI)
    return()
  endif()
  add_library(lacis_ranks MODULE engine/core/mpi/ranks_mpi.c)
  target_include_directories(lacis_ranks PRIVATE "${CMAKE_SOURCE_DIR}/engine")
  target_link_libraries(lacis_ranks PRIVATE lacis_flags MPI::MPI_C)
  set_target_properties(lacis_ranks PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}" SUFFIX .so)
endfunction()
