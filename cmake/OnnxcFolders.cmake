# How a folder becomes a library or a tool, with the settings that all share.

add_library(onnxc_settings INTERFACE)
target_compile_options(onnxc_settings INTERFACE -Wall -Wextra -Wpedantic $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>)
# GCC's full -Wshadow also dislikes an enumerator and a parameter that are called like a type or a member.
if(ONNXC_WERROR)
  target_compile_options(onnxc_settings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 is often wrong about these, mostly inside its own std::string and std::vector (GCC bugs 105329, 105651, 107852).
  target_compile_options(onnxc_settings INTERFACE -Wno-restrict -Wno-error=maybe-uninitialized -Wno-error=array-bounds
                         -Wno-error=stringop-overflow -Wno-error=stringop-overread -Wno-error=free-nonheap-object)
endif()
if(ONNXC_SANITIZE)
  target_compile_options(onnxc_settings INTERFACE -fsanitize=${ONNXC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
                         -Wno-maybe-uninitialized)  # the checks' own branches confuse the analysis
  target_link_options(onnxc_settings INTERFACE -fsanitize=${ONNXC_SANITIZE})
endif()

# A model is a stranger's: what still reads beside a vector or string of the standard library's ends the program, and reads no other memory.
target_compile_definitions(onnxc_settings INTERFACE _GLIBCXX_ASSERTIONS)

# Includes are written from the root of the source tree: #include "compiler/ir/graph.h". tests/includes checks their direction.
target_include_directories(onnxc_settings INTERFACE ${PROJECT_SOURCE_DIR})

# onnxc_library(NAME [GLOBS pattern…] [EXCLUDE regex] [LINKS library…] [PRECOMPILE header…]): a static library, or only its links while it has no sources.
function(onnxc_library name)
  cmake_parse_arguments(ARG "" "EXCLUDE" "GLOBS;LINKS;PRECOMPILE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_GLOBS})
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ARG_EXCLUDE}")
  endif()
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC onnxc_settings ${ARG_LINKS})
    onnxc_precompile(${name} MORE ${ARG_PRECOMPILE})
    onnxc_compile_together(${name})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE onnxc_settings ${ARG_LINKS})
  endif()
endfunction()

# onnxc_precompile(TARGET [MORE header…]): the headers of others that most files include, compiled once: they take half of the time of a small file. Each file includes what
# it needs all the same; build with ONNXC_PRECOMPILE=OFF to see that it does. A folder of a few files gains less than the precompiled header takes.
function(onnxc_precompile name)
  cmake_parse_arguments(ARG "" "" "MORE" ${ARGN})
  get_target_property(sources ${name} SOURCES)
  list(LENGTH sources files)
  if(ONNXC_PRECOMPILE AND files GREATER 7)
    target_precompile_headers(${name} PRIVATE <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <utility> <variant>
                                              <vector> <fmt/format.h> <fmt/ranges.h> ${ARG_MORE})
  endif()
endfunction()

# onnxc_compile_together(TARGET): compiles ONNXC_FILES_TOGETHER neighbouring files as one, which takes the compiler half of the time: to read headers and to
# instantiate templates is most of a small file. So a name in an anonymous namespace differs from those in files beside it. The preset `dev` and tests/tidy
# read each file alone.
function(onnxc_compile_together name)
  if(ONNXC_FILES_TOGETHER GREATER 1)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ONNXC_FILES_TOGETHER})
  endif()
endfunction()

# onnxc_tool(NAME [LINKS library…]): the executable of tools/NAME.cpp or tools/NAME/*.cpp, when there is one.
function(onnxc_tool name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  file(GLOB single CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
  if(sources OR single)
    add_executable(${name} ${sources} ${single})
    target_link_libraries(${name} PRIVATE onnxc_settings ${ARG_LINKS})
    if(NOT name STREQUAL kernel_bench)  # its files include kernels and little else
      onnxc_precompile(${name} MORE <filesystem> <nlohmann/json.hpp>)
      onnxc_compile_together(${name})
    endif()
  endif()
endfunction()
