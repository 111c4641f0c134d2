// onnxc explain E0204: what an error means and what to do. The pages are those of docs/refusals, which the build has put into this program.
#pragma once
#include <string>
#include <string_view>

namespace onnxc {

/// The text of a file of docs/refusals. Throws std::logic_error for a name that is none.
std::string_view refusal_page(std::string_view file);

/// `# E0204: A node needs its own result` without the mark and the code.
std::string refusal_title(std::string_view page);

/// Whether it is `E` and four digits.
bool looks_like_code(const std::string& text);

/// Prints the page of that code. Throws Error{Usage} for a number that is none.
int explain_code(const std::string& code);
/// Prints all codes with their titles.
int list_codes();

}  // namespace onnxc
