// Lines are cut greedily: at the last place that fits, and the rest is indented by four more columns.
#include "codegen/lines.h"

#include <algorithm>

namespace onnxc {
namespace {

constexpr std::size_t kIndent = 4, kMostSpaces = 40;

/// The place after the literal that begins at `at`.
std::size_t literal_end(std::string_view line, std::size_t at) {
  const char quote = line[at++];
  while (at < line.size() && line[at] != quote) at += line[at] == '\\' ? 2 : 1;
  return std::min(at + 1, line.size());
}

bool begins_literal(std::string_view line, std::size_t at) { return line[at] == '"' || line[at] == '\''; }

/// The place where the comment of a line of code begins, or the line ends.
std::size_t comment_begin(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    if (line.substr(at, 2) == "//") return at;
    at = begins_literal(line, at) ? literal_end(line, at) : at + 1;
  }
  return line.size();
}

/// The last beginning of a code point that is not after `at`.
std::size_t whole_character(std::string_view text, std::size_t at) {
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u) --at;
  return at;
}

/// Adds `// words`, indented by `indent` spaces. No line ends with a backslash, which would join the next one.
void add_comment(std::string& out, std::size_t indent, std::string_view comment) {
  const std::size_t slashes = std::min(comment.find_first_not_of('/'), comment.size());
  const std::string begin = std::string(indent, ' ') + std::string(comment.substr(0, slashes));
  std::string_view words = comment.substr(slashes);
  const std::size_t spaces = std::min(words.find_first_not_of(' '), words.size());
  std::string next = begin + std::string(words.substr(0, spaces));
  words.remove_prefix(spaces);
  while (words.size() > 1 && next.size() + words.size() > kLongestLine) {
    const std::size_t room = std::min(kLongestLine - std::min(next.size(), kLongestLine / 2), words.size() - 1);
    std::size_t cut = room;
    while (cut > 0 && (words[cut] != ' ' || words[cut - 1] == '\\' || words[cut - 1] == ' ')) --cut;
    if (cut == 0) {  // a single long word
      cut = whole_character(words, room);
      while (cut > 0 && words[cut - 1] == '\\') --cut;
      if (cut == 0) break;
    }
    out += next;
    out += words.substr(0, cut);
    out += "\n";
    words.remove_prefix(cut);
    words.remove_prefix(std::min(words.find_first_not_of(' '), words.size()));
    next = begin + std::string(std::min(spaces + kIndent, kMostSpaces), ' ');
  }
  if (words.empty()) return;
  out += next;
  out += words;
  out += "\n";
}

void add_code(std::string& out, std::string_view line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string next(indent + kIndent, ' ');
  // Of the part that is being filled, and the places where it can be cut, or 0.
  std::size_t begin = 0, column = 0, comma = 0, space = 0;
  const auto cut = [&](std::size_t at) {
    out += begin == 0 ? "" : next;
    out += line.substr(begin, at - begin - 1);  // without the space
    out += "\n";
    begin = at;
    column = next.size();
    comma = space = 0;
  };
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = begins_literal(line, at) ? literal_end(line, at) : at + 1;
    column += end - at;
    if (column > kLongestLine) {
      const std::size_t where = comma != 0 ? comma : space;
      if (where != 0) {
        cut(where);
        column += end - where;
        // The rest of the part may have places of its own.
        for (std::size_t k = where; k < at;) {
          const std::size_t past = begins_literal(line, k) ? literal_end(line, k) : k + 1;
          if (line[k] == ' ') (k > 0 && line[k - 1] == ',' ? comma : space) = past;
          k = past;
        }
      }
    }
    if (line[at] == ' ' && at > std::max(begin, indent)) (line[at - 1] == ',' ? comma : space) = end;
    at = end;
  }
  out += begin == 0 ? "" : next;
  out += line.substr(begin);
  out += "\n";
}

}  // namespace

std::string in_short_lines(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool ends = end < text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (line.size() <= kLongestLine || line.substr(indent).starts_with('#')) {
      out += line;
      out += "\n";
    } else if (const std::size_t comment = comment_begin(line); comment == indent) {
      add_comment(out, indent, line.substr(indent));
    } else {
      std::string_view code = line.substr(0, comment);
      while (code.ends_with(' ')) code.remove_suffix(1);
      if (comment < line.size()) add_comment(out, indent, line.substr(comment));
      add_code(out, code);
    }
    if (!ends) out.pop_back();
  }
  return out;
}

}  // namespace onnxc
