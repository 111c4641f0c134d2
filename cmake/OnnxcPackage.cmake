# What `cmake --install` puts where: bin/onnxc, include/onnxc/*, lib/cmake/onnxc/*, a file for pkg-config, completions of shells, the manual page.
# The build folder itself serves find_package too. `cpack --config build/CPackConfig.cmake` makes a .deb of it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder lib/cmake/onnxc)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/onnxcConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

# The package as installed.
set(ONNXC_PACKAGE_BIN ${CMAKE_INSTALL_BINDIR})
set(ONNXC_PACKAGE_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
set(ONNXC_PACKAGE_SERVING ${CMAKE_INSTALL_DATADIR}/onnxc)
configure_package_config_file(cmake/onnxcConfig.cmake.in ${PROJECT_BINARY_DIR}/installed/onnxcConfig.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS ONNXC_PACKAGE_BIN ONNXC_PACKAGE_INCLUDE ONNXC_PACKAGE_SERVING
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
install(FILES ${PROJECT_BINARY_DIR}/installed/onnxcConfig.cmake ${PROJECT_BINARY_DIR}/onnxcConfigVersion.cmake
              cmake/OnnxcAddModel.cmake cmake/OnnxcAddServer.cmake DESTINATION ${package_folder})
install(DIRECTORY runtime_stub/onnxc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY serving DESTINATION ${CMAKE_INSTALL_DATADIR}/onnxc FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp")  # what onnxc_add_server compiles
install(FILES LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
configure_file(cmake/onnxc.pc.in ${PROJECT_BINARY_DIR}/installed/onnxc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/installed/onnxc.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)  # nothing of it depends on the machine
if(TARGET onnxc)
  install(TARGETS onnxc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # What onnxc says of itself, once it runs.
  if(NOT CMAKE_CROSSCOMPILING)
    set(page ${PROJECT_BINARY_DIR}/installed/share)
    set(pages ${page}/bash-completion/completions/onnxc ${page}/zsh/vendor-completions/_onnxc ${page}/fish/vendor_completions.d/onnxc.fish ${page}/man/man1/onnxc.1)
    add_custom_command(
      OUTPUT ${pages}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${page}/bash-completion/completions ${page}/zsh/vendor-completions ${page}/fish/vendor_completions.d ${page}/man/man1
      COMMAND onnxc completion bash > ${page}/bash-completion/completions/onnxc
      COMMAND onnxc completion zsh > ${page}/zsh/vendor-completions/_onnxc
      COMMAND onnxc completion fish > ${page}/fish/vendor_completions.d/onnxc.fish
      COMMAND onnxc manual > ${page}/man/man1/onnxc.1
      DEPENDS onnxc VERBATIM)
    add_custom_target(command_pages ALL DEPENDS ${pages})
    install(DIRECTORY ${page}/ DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL)
  endif()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME onnxc)
set(CPACK_PACKAGE_VENDOR "the onnxc authors")
set(CPACK_PACKAGE_CONTACT "the onnxc authors <onnxc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, cmake")
include(CPack)

# The package as built: -DCMAKE_PREFIX_PATH=build.
set(ONNXC_PACKAGE_BIN ${PROJECT_BINARY_DIR})
set(ONNXC_PACKAGE_INCLUDE ${PROJECT_SOURCE_DIR}/runtime_stub)
set(ONNXC_PACKAGE_SERVING ${PROJECT_SOURCE_DIR})
configure_package_config_file(cmake/onnxcConfig.cmake.in ${PROJECT_BINARY_DIR}/onnxcConfig.cmake
                              INSTALL_DESTINATION ${PROJECT_BINARY_DIR} INSTALL_PREFIX ${PROJECT_BINARY_DIR}
                              PATH_VARS ONNXC_PACKAGE_BIN ONNXC_PACKAGE_INCLUDE ONNXC_PACKAGE_SERVING NO_CHECK_REQUIRED_COMPONENTS_MACRO)
configure_file(cmake/OnnxcAddModel.cmake ${PROJECT_BINARY_DIR}/OnnxcAddModel.cmake COPYONLY)
configure_file(cmake/OnnxcAddServer.cmake ${PROJECT_BINARY_DIR}/OnnxcAddServer.cmake COPYONLY)
