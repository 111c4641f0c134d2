# What `cmake --install` puts where: bin/onnxc, include/onnxc/*, lib/cmake/onnxc/*. The build folder itself serves find_package too.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder lib/cmake/onnxc)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/onnxcConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

# The package as installed.
set(ONNXC_PACKAGE_BIN ${CMAKE_INSTALL_BINDIR})
set(ONNXC_PACKAGE_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
configure_package_config_file(cmake/onnxcConfig.cmake.in ${PROJECT_BINARY_DIR}/installed/onnxcConfig.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS ONNXC_PACKAGE_BIN ONNXC_PACKAGE_INCLUDE
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
install(FILES ${PROJECT_BINARY_DIR}/installed/onnxcConfig.cmake ${PROJECT_BINARY_DIR}/onnxcConfigVersion.cmake
              cmake/OnnxcAddModel.cmake DESTINATION ${package_folder})
install(DIRECTORY runtime_stub/onnxc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET onnxc)
  install(TARGETS onnxc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The package as built: -DCMAKE_PREFIX_PATH=build.
set(ONNXC_PACKAGE_BIN ${PROJECT_BINARY_DIR})
set(ONNXC_PACKAGE_INCLUDE ${PROJECT_SOURCE_DIR}/runtime_stub)
configure_package_config_file(cmake/onnxcConfig.cmake.in ${PROJECT_BINARY_DIR}/onnxcConfig.cmake
                              INSTALL_DESTINATION ${PROJECT_BINARY_DIR} INSTALL_PREFIX ${PROJECT_BINARY_DIR}
                              PATH_VARS ONNXC_PACKAGE_BIN ONNXC_PACKAGE_INCLUDE NO_CHECK_REQUIRED_COMPONENTS_MACRO)
configure_file(cmake/OnnxcAddModel.cmake ${PROJECT_BINARY_DIR}/OnnxcAddModel.cmake COPYONLY)
