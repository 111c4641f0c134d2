# onnxc_add_model(target MODEL model.onnx [NAMESPACE name] [TARGET machine] [DIM name=extent…] [CUSTOM_OP spec…] [COMPRESS samples [COMPRESS_OPTIONS option…]]
#                 [QUANTIZE samples [QUANTIZE_OPTIONS option…]] [CHECK [CHECK_OPTIONS option…]] [OPTIONS option…])
#
# A static library from an ONNX model. `#include "name.h"` gives its interface, in namespace `name` (by default the model's file name).
#
#   MODEL      the file; it and the external data that it refers to are dependencies: a change of either compiles anew
#   TARGET     the machine the code is for, as in `onnxc --target`; by default the one that builds. Required when cross-compiling. cuda-sm80 and cuda-sm90 want
#              a project with CUDA among its LANGUAGES; in others the C++ compiler makes a library that runs in the emulator of GPUs, slowly
#   DIM        bounds or values of dynamic dimensions: batch=8 sequence=1..512
#   CUSTOM_OP  operators that you write, as in `onnxc --custom-op`: "my.Foo=foo.hpp:my::foo, y0 = x0". Headers are looked for in the current source folder,
#              and where target_include_directories(target PRIVATE …) says
#   COMPRESS   what `onnxc compress --calibration` takes: the model loses parameters before it is quantised or compiled, and again when the samples change. The machine
#              that builds runs it for that, also when cross-compiling. COMPRESS_OPTIONS: --parameters=30 …
#   QUANTIZE   the same with `onnxc quantize`. QUANTIZE_OPTIONS: --keep-cosine=0.99 …
#   CHECK      the build runs `onnxc verify`: the unit must give what an evaluation of the model gives, and expected outputs that lie beside it, and keep the rules for
#              emitted code where check_emitted is. For machines whose code the building one runs. CHECK_OPTIONS: --each-pass, --data DIR, --rel-l2 0.02 …
#   OPTIONS    any others of onnxc's options: -O3 --weights=asm --region fast:64K … Models with more than 256 MiB of weights want --weights=object. --max-arena=64K,
#              --max-weights=1M and --max-code=200K fail the build where the model needs more; code is counted as the project's compiler makes it
#
# The library is optimised in every configuration (-O3, or the -O of OPTIONS): nobody steps through it.
cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

function(onnxc_add_model target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "CHECK" "MODEL;NAMESPACE;TARGET;COMPRESS;QUANTIZE"
                        "DIM;CUSTOM_OP;COMPRESS_OPTIONS;QUANTIZE_OPTIONS;CHECK_OPTIONS;OPTIONS")
  if(NOT ARG_MODEL OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "onnxc_add_model(target MODEL model.onnx [NAMESPACE n] [TARGET t] [DIM name=extent…] [CUSTOM_OP spec…] [COMPRESS samples] [QUANTIZE samples] [CHECK] [OPTIONS …]): "
                        "MODEL is missing, or these are not understood: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(CMAKE_CROSSCOMPILING AND NOT ARG_TARGET)
    message(FATAL_ERROR "onnxc_add_model(${target}): when cross-compiling, TARGET says which machine the code is for (onnxc --help)")
  endif()
  set(asked)
  cmake_path(ABSOLUTE_PATH ARG_MODEL BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE model)
  if(NOT ARG_NAMESPACE)
    cmake_path(GET model STEM LAST_ONLY stem)
    string(MAKE_C_IDENTIFIER "${stem}" ARG_NAMESPACE)  # of the files: onnxc finds a name for the namespace where this would not do
  else()
    set(asked --namespace ${ARG_NAMESPACE})
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/onnxc/${target})
  file(MAKE_DIRECTORY ${folder})
  set(options ${asked})
  if(ARG_TARGET)
    list(APPEND options --target ${ARG_TARGET})
  endif()
  foreach(dim IN LISTS ARG_DIM)
    list(APPEND options --dim ${dim})
  endforeach()
  foreach(spec IN LISTS ARG_CUSTOM_OP)
    list(APPEND options --custom-op "${spec}")
  endforeach()
  list(APPEND options ${ARG_OPTIONS})

  set(source ${folder}/${ARG_NAMESPACE}.cpp)
  set(language CXX)
  if(ARG_TARGET MATCHES "^cuda-sm([0-9]+)")
    set(source ${folder}/${ARG_NAMESPACE}.cu)
    set(architecture ${CMAKE_MATCH_1})
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(CUDA IN_LIST languages)
      set(language CUDA)
    else()
      message(STATUS "onnxc: ${target} runs in the emulator of GPUs, as this project has no CUDA among its LANGUAGES")
      set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
    endif()
  endif()

  # Weights beside the source: an object file becomes a member of the library, a binary file is read by the assembler.
  set(beside)
  if("${ARG_OPTIONS}" MATCHES "--weights[=;]object")
    set(beside ${folder}/${ARG_NAMESPACE}.weights.o)
    set_source_files_properties(${beside} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  elseif("${ARG_OPTIONS}" MATCHES "--weights[=;]incbin")
    set(beside ${folder}/${ARG_NAMESPACE}.weights.bin)
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${beside}
                                COMPILE_DEFINITIONS ONNXC_WEIGHTS_DIR="${folder}/")
  endif()

  set(onnxc ${ONNXC_EXECUTABLE})
  if("${ARG_OPTIONS}" MATCHES "--max-code[=;]")
    set(onnxc ${CMAKE_COMMAND} -E env ONNXC_CXX=${CMAKE_CXX_COMPILER} ${ONNXC_EXECUTABLE})
  endif()

  cmake_path(RELATIVE_PATH model BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE shown)
  foreach(rewriting IN ITEMS COMPRESS QUANTIZE)
    if(NOT ARG_${rewriting})
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH ARG_${rewriting} BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE samples)
    set(sample_files ${samples})
    if(IS_DIRECTORY ${samples})
      file(GLOB_RECURSE sample_files CONFIGURE_DEPENDS ${samples}/*.pb)
    endif()
    string(TOLOWER ${rewriting} command)
    set(rewritten ${folder}/${ARG_NAMESPACE}.${command}.onnx)
    add_custom_command(
      OUTPUT ${rewritten}
      COMMAND ${ONNXC_EXECUTABLE} ${command} ${model} -o ${rewritten} --calibration ${samples} ${ARG_${rewriting}_OPTIONS}
      DEPENDS ${model} ${sample_files} ${ONNXC_EXECUTABLE}
      COMMENT "Making ${shown} smaller (${command}) with onnxc"
      VERBATIM)
    set(model ${rewritten})
  endforeach()
  add_custom_command(
    OUTPUT ${source} ${folder}/${ARG_NAMESPACE}.h ${folder}/${ARG_NAMESPACE}.link ${beside}
    COMMAND ${onnxc} ${model} -o ${source} --depfile ${folder}/${ARG_NAMESPACE}.d
            --link-file ${folder}/${ARG_NAMESPACE}.link ${options}
    DEPENDS ${model} ${ONNXC_EXECUTABLE}
    DEPFILE ${folder}/${ARG_NAMESPACE}.d
    COMMENT "Compiling ${shown} with onnxc"
    VERBATIM)

  if(ARG_CHECK)
    set(checked ${folder}/${ARG_NAMESPACE}.checked)
    set(check_options ${options} ${ARG_CHECK_OPTIONS})
    list(FILTER check_options EXCLUDE REGEX "^--(standalone|profile|self-test|namespace)($|=)")  # of how the unit is written
    list(REMOVE_ITEM check_options ${ARG_NAMESPACE})
    add_custom_command(
      OUTPUT ${checked}
      COMMAND ${CMAKE_COMMAND} -E env ONNXC_CXX=${CMAKE_CXX_COMPILER} ${ONNXC_EXECUTABLE} verify ${model} --quiet ${check_options}
      COMMAND ${CMAKE_COMMAND} -E touch ${checked}
      DEPENDS ${source} ${ONNXC_EXECUTABLE}
      WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      COMMENT "Verifying what onnxc made of ${shown}"
      VERBATIM)
    list(APPEND beside ${checked})
  endif()

  add_library(${target} STATIC ${source} ${folder}/${ARG_NAMESPACE}.h ${beside})
  target_include_directories(${target} PUBLIC ${folder})
  if(ARG_CUSTOM_OP)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  # Which libraries a model needs is known when it has been compiled: the linker reads them from the file.
  target_link_libraries(${target} INTERFACE "-Wl,@${folder}/${ARG_NAMESPACE}.link")
  if(language STREQUAL CUDA)
    # That the runtime is C++20 would be asked of nvcc, too, of which CMake 3.25.1 does not know that it has it.
    target_include_directories(${target} PUBLIC $<TARGET_PROPERTY:onnxc::runtime,INTERFACE_INCLUDE_DIRECTORIES>)
  else()
    target_link_libraries(${target} PUBLIC onnxc::runtime)
  endif()

  set(level -O3)
  foreach(option IN LISTS ARG_OPTIONS)
    if(option MATCHES "^-O[0123s]$")
      set(level ${option})
    endif()
  endforeach()
  target_compile_options(${target} PRIVATE ${level})
  string(REGEX REPLACE "^cuda-sm[0-9]+\\+?" "" processor "${ARG_TARGET}")
  set(machine)
  if((NOT processor OR processor STREQUAL native) AND NOT CMAKE_CROSSCOMPILING)
    set(machine -march=native)
  elseif(processor MATCHES "^x86-64(-v[234])?$")
    set(machine -march=${processor})
  elseif(processor MATCHES "^zen[45]$" AND NOT CMAKE_CROSSCOMPILING)
    set(machine -march=x86-64-v4 -mavx512vnni -mavx512bf16)
  endif()  # else the toolchain file has chosen the processor
  if(WIN32 AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # which does not align the stack for AVX
    list(APPEND machine -Wa,-muse-unaligned-vector-move -DONNXC_UNALIGNED_MOVES)
  endif()
  if(language STREQUAL CUDA)
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES ${architecture})
    set_property(TARGET ${target} PROPERTY CUDA_STANDARD)
    target_compile_options(${target} PRIVATE -std=c++20 --extended-lambda --expt-relaxed-constexpr)
    list(TRANSFORM machine PREPEND -Xcompiler=)
  endif()
  target_compile_options(${target} PRIVATE ${machine})
endfunction()

cmake_policy(POP)
