# Finds the ONNX C++ library that tools/setup.sh built: the version is pinned there, once, and CMake asks it where the library is.
if(NOT DEFINED ONNX_ROOT AND NOT DEFINED ENV{ONNX_ROOT})
  execute_process(COMMAND bash -c ". '${PROJECT_SOURCE_DIR}/tools/env.sh' && printf %s \"$ONNX_ROOT\""
                  OUTPUT_VARIABLE ONNX_ROOT COMMAND_ERROR_IS_FATAL ANY)
endif()
find_package(Protobuf REQUIRED MODULE)
find_package(ONNX CONFIG QUIET)
if(NOT ONNX_FOUND)
  message(FATAL_ERROR "ONNX's C++ library is not in ${ONNX_ROOT}$ENV{ONNX_ROOT}; run tools/setup.sh once, or set ONNX_ROOT")
endif()
