# onnxc_embed(TARGET FUNCTION HEADER FOLDER): adds to TARGET a source that defines `std::string_view onnxc::FUNCTION(std::string_view name)`, declared in
# HEADER: the text of the file of that name in FOLDER. It is written anew when a file changes. As a script, with -DOUT= -DFUNCTION= -DHEADER= -DFOLDER=, this
# file writes it.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB files ${FOLDER}/*)
  set(text "#include \"${HEADER}\"\n\n#include <stdexcept>\n#include <string>\n\nnamespace onnxc {\n\nstd::string_view ${FUNCTION}(std::string_view name) {\n")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME)
    file(READ ${file} bytes)
    string(APPEND text "  if (name == \"${name}\") {\n    return R\"embedded(${bytes})embedded\";\n  }\n")
  endforeach()
  string(APPEND text "  throw std::logic_error(\"no embedded file is named \" + std::string(name));\n}\n\n}  // namespace onnxc\n")
  file(WRITE ${OUT} "${text}")
  return()
endif()

function(onnxc_embed target function header folder)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
  add_custom_command(OUTPUT ${out} DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/OnnxcEmbed.cmake VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFUNCTION=${function} -DHEADER=${header} -DFOLDER=${folder} -P ${PROJECT_SOURCE_DIR}/cmake/OnnxcEmbed.cmake)
  target_sources(${target} PRIVATE ${out})
endfunction()
