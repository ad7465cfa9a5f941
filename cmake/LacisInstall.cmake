# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` gives: both headers, both libraries, the module for several ranks, the shell, the man page, the
# CMake package and lacis.pc. The static library has an export file of its own, as only it makes a user's project look
# for SQLite, zlib and OpenMP.
include(CMakePackageConfigHelpers)

set(LACIS_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/lacis")

install(FILES engine/lacis.h engine/lacis_extend.h engine/lacis_extend_batch.h engine/lacis_extend_bodies.h engine/lacis_extend_expr.h engine/lacis_extend_grid.h
  engine/lacis_extend_gpu.h engine/lacis_extend_ranks.h engine/lacis_extend_save.h engine/lacis_extend_symmetric.h engine/lacis_extend_tune.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS lacis_shared EXPORT lacis-shared
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET lacis_ranks)
  install(TARGETS lacis_ranks LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(TARGETS lacis_static EXPORT lacis-static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
foreach(form shared static)
  install(EXPORT lacis-${form} NAMESPACE lacis:: DESTINATION "${LACIS_CMAKE_DIR}")
endforeach()

set(LACIS_PC_OPENMP "${OpenMP_C_FLAGS}") # what a user of the static library adds
if(LACIS_SANITIZE STREQUAL "thread")
  set(LACIS_PC_OPENMP "")
endif()
set(LACIS_PC_PNG "")
if(PNG_FOUND)
  set(LACIS_PC_PNG "-lpng")
endif()
set(LACIS_PC_CUDA "")
if(LACIS_HAVE_CUDA)
  set(LACIS_PC_CUDA "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lsupc++ -ldl -lrt")
endif()
configure_package_config_file(cmake/lacisConfig.cmake.in "${CMAKE_BINARY_DIR}/lacisConfig.cmake"
  INSTALL_DESTINATION "${LACIS_CMAKE_DIR}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/lacisConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/lacisConfig.cmake" "${CMAKE_BINARY_DIR}/lacisConfigVersion.cmake"
  DESTINATION "${LACIS_CMAKE_DIR}")

# lacis.pc finds its prefix from where it lies, so that an installed tree may be moved.
set(LACIS_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(LACIS_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(kind INCLUDE LIB)
  set(LACIS_PC_${kind}DIR "${CMAKE_INSTALL_${kind}DIR}")
  if(NOT IS_ABSOLUTE "${LACIS_PC_${kind}DIR}")
    set(LACIS_PC_${kind}DIR "\${prefix}/${LACIS_PC_${kind}DIR}")
  endif()
endforeach()
configure_file(cmake/lacis.pc.in "${CMAKE_BINARY_DIR}/lacis.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/lacis.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(TARGET lacis)
  # People start it from the build as build/release/lacis.
  set_target_properties(lacis PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_BINDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    file(RELATIVE_PATH to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(lacis PROPERTIES INSTALL_RPATH "$ORIGIN/${to_lib}")
  endif()
  install(TARGETS lacis RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES docs/lacis.1 DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
