# onnxc_add_server(target MODELS name=model.onnx… [TARGET machine] [STATIC] [OPTIONS option…])
#
# A program that serves models which are part of it: the Open Inference Protocol v2 over HTTP (docs/server.md).
#
#   MODELS   name=file, or name:version=file for one of several versions; a file alone takes its stem
#   TARGET   as for onnxc_add_model. Images are run elsewhere mostly: x86-64-v3 is what processors since 2013 have, and `native` what this one has
#   STATIC   a program that needs no library, so that it may be all there is in an image
#   OPTIONS  of onnxc for all models: --threads=2 --dim batch=1..64 …
#
# It needs headers: Boost 1.75 or later (nothing of it is linked), CLI11.
function(onnxc_add_server target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "STATIC" "TARGET" "MODELS;OPTIONS")
  if(NOT ARG_MODELS OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "onnxc_add_server(target MODELS name=model.onnx… [TARGET machine] [STATIC] [OPTIONS …]): MODELS is missing, or these are not understood: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT "${ARG_OPTIONS}" MATCHES "--zipmap[=;]")
    list(APPEND ARG_OPTIONS --zipmap=tensor)  # the protocol has no maps
  endif()
  set(threads 1)
  if("${ARG_OPTIONS}" MATCHES "--threads[=;]([0-9]+)")
    set(threads ${CMAKE_MATCH_1})
  endif()
  set(machine)
  if(ARG_TARGET)
    set(machine TARGET ${ARG_TARGET})
  endif()

  set(declarations)
  set(rows)
  set(libraries)
  foreach(model IN LISTS ARG_MODELS)
    if(NOT model MATCHES "^([A-Za-z0-9_-][A-Za-z0-9_.-]*)(:([A-Za-z0-9_.-]+))?=(.+)$")
      cmake_path(GET model STEM LAST_ONLY stem)
      if(NOT "${stem}=${model}" MATCHES "^([A-Za-z0-9_-][A-Za-z0-9_.-]*)(:([A-Za-z0-9_.-]+))?=(.+)$")
        message(FATAL_ERROR "onnxc_add_server(${target}): '${model}' is not name=model.onnx; a name is made of letters, digits, and _ - .")
      endif()
    endif()
    set(name ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_4})
    set(version ${CMAKE_MATCH_3})
    if("${version}" STREQUAL "")
      set(version 1)
    endif()
    string(MAKE_C_IDENTIFIER "served_${name}_${version}" symbol)
    if(TARGET ${target}_${symbol})
      message(FATAL_ERROR "onnxc_add_server(${target}): '${name}' is there twice in version ${version}")
    endif()
    onnxc_add_model(${target}_${symbol} MODEL ${file} NAMESPACE ${symbol} ${machine} OPTIONS ${ARG_OPTIONS})
    list(APPEND libraries ${target}_${symbol})
    string(APPEND declarations "const onnxc_model* ${symbol}_model(void);\n")
    string(APPEND rows "    {\"${name}\", \"${version}\", ${symbol}_model, ${threads}},\n")
  endforeach()

  if(NOT TARGET onnxc_server_library)
    find_package(CLI11 REQUIRED)
    find_package(Threads REQUIRED)
    if(NOT ONNXC_SERVING_SOURCES)
      message(FATAL_ERROR "onnxc_add_server: find_package(onnxc CONFIG) tells where the server's sources are")
    endif()
    find_path(ONNXC_BOOST boost/json/basic_parser_impl.hpp REQUIRED DOC "Headers of Boost, 1.75 or later (Debian: libboost1.81-dev)")
    file(GLOB sources ${ONNXC_SERVING_SOURCES}/serving/*.cpp)
    add_library(onnxc_server_library STATIC ${sources})
    target_include_directories(onnxc_server_library PUBLIC ${ONNXC_SERVING_SOURCES})
    target_include_directories(onnxc_server_library SYSTEM PRIVATE ${ONNXC_BOOST})
    target_compile_definitions(onnxc_server_library PRIVATE BOOST_ERROR_CODE_HEADER_ONLY ONNXC_VERSION="${onnxc_VERSION}")
    target_compile_options(onnxc_server_library PRIVATE $<$<CONFIG:>:-O2> -ffunction-sections -fdata-sections)
    target_link_libraries(onnxc_server_library PUBLIC onnxc::runtime CLI11::CLI11 Threads::Threads)
  endif()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/onnxc/${target}.models.cpp)
  file(CONFIGURE OUTPUT ${table} @ONLY CONTENT [[
#include "serving/linked_server.h"

extern "C" {
@declarations@}

std::span<const onnxc::serving::LinkedModel> onnxc::serving::linked_models() {
  static constexpr LinkedModel kModels[] = {
@rows@  };
  return kModels;
}
]])
  add_executable(${target} ${table})
  target_link_libraries(${target} PRIVATE onnxc_server_library ${libraries})
  target_link_options(${target} PRIVATE -Wl,--gc-sections)
  if(ARG_STATIC)
    target_link_options(${target} PRIVATE -static)
  endif()
endfunction()
