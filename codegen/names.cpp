// Everything here treats its input as malicious: what is not known to be harmless is replaced.
#include "codegen/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace onnxc {
namespace {

constexpr std::size_t kLongestIdentifier = 64;

// Keywords of C++20 and C, alternative tokens, and lower-case macros and names that system headers or compilers
// define.
// clang-format off
constexpr std::string_view kReserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "assert", "atomic_cancel", "atomic_commit", "atomic_noexcept", "auto", "bitand",
    "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "contract_assert",
    "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "errno", "explicit", "export", "extern",
    "false", "far", "final", "float", "for", "friend", "goto", "i386", "if", "import", "inline", "int", "interface", "linux", "long",
    "main", "major", "minor", "module", "mutable", "namespace", "near", "new", "noexcept", "not", "not_eq", "nullptr", "onnxc",
    "operator", "or", "or_eq", "override", "posix", "private", "protected", "public", "reflexpr", "register", "reinterpret_cast",
    "requires", "restrict", "return", "short", "signed", "sizeof", "small", "static", "static_assert", "static_cast", "std",
    "stderr", "stdin", "stdout", "struct", "switch", "synchronized", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union", "unix", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "xor_eq",
};
// clang-format on
static_assert(std::ranges::is_sorted(kReserved));

// Those of them that are no problem with C++20 on most systems: small is a macro on Windows, synchronized a keyword
// of transactional memory.
constexpr std::string_view kElsewhere[] = {"atomic_cancel", "atomic_commit", "atomic_noexcept", "far",
                                           "final",         "interface",     "major",           "minor",
                                           "near",          "override",      "small",           "synchronized"};
static_assert(std::ranges::is_sorted(kElsewhere));

// Macros in capitals, which make_identifier never produces.
constexpr std::string_view kMacros[] = {"BUFSIZ", "EOF", "HUGE_VAL", "INFINITY", "NAN", "NDEBUG", "NULL", "RAND_MAX"};
static_assert(std::ranges::is_sorted(kMacros));

// Functions, types and objects of the C library in the global namespace, which a namespace must not be named after.
// clang-format off
constexpr std::string_view kGlobalNames[] = {
    "abort", "abs", "access", "acct", "acos", "acosh", "alarm", "asctime", "asin", "asinh", "atan", "atan2", "atanh", "atexit",
    "atof", "atoi", "atol", "basename", "bcmp", "bcopy", "bind", "brk", "bsearch", "bzero", "calloc", "cbrt", "ceil", "chdir",
    "chmod", "chown", "clock", "clone", "close", "connect", "copysign", "cos", "cosh", "creat", "crypt", "ctime", "daemon",
    "daylight", "difftime", "dirname", "div", "drand48", "drem", "dup", "environ", "erf", "erfc", "execl", "execv", "execve",
    "exit", "exp", "exp10", "exp2", "expm1", "fabs", "fclose", "fdim", "fflush", "ffs", "fgetc", "fgets", "finite", "floor", "fma",
    "fmax", "fmin", "fmod", "fopen", "fork", "fprintf", "fputc", "fputs", "fread", "free", "frexp", "fscanf", "fseek", "fstat",
    "ftell", "ftime", "fwrite", "gamma", "getc", "getchar", "getenv", "getline", "getopt", "getpid", "gets", "gettid", "getw",
    "gmtime", "hypot", "ilogb", "index", "initstate", "ioctl", "isalnum", "isalpha", "isatty", "isdigit", "isinf", "islower",
    "isnan", "isspace", "isupper", "j0", "j1", "jn", "kill", "labs", "ldexp", "ldiv", "lgamma", "link", "listen", "llabs", "lldiv",
    "localtime", "lockf", "log", "log10", "log1p", "log2", "logb", "lrint", "lround", "lseek", "malloc", "memcmp", "memcpy",
    "memmove", "memset", "mkdir", "mktime", "mmap", "modf", "mount", "nan", "nanosleep", "nearbyint", "nextafter", "nextdown",
    "nextup", "nice", "open", "pause", "perror", "pipe", "poll", "popen", "pow", "pread", "printf", "putc", "putchar", "putenv",
    "puts", "putw", "pwrite", "qsort", "raise", "rand", "random", "read", "readlink", "realloc", "realpath", "recv", "remainder",
    "remove", "remquo", "rename", "rewind", "rindex", "rint", "rmdir", "round", "roundeven", "sbrk", "scalb", "scalbn", "scanf",
    "select", "send", "setbuf", "setenv", "setjmp", "setlocale", "setstate", "shutdown", "sigaction", "signal", "significand",
    "sigpause", "sigset", "sigstack", "sigval", "sin", "sincos", "sinh", "sleep", "socket", "splice", "sprintf", "sqrt", "srand",
    "srandom", "sscanf", "stat", "strcat", "strchr", "strcmp", "strcoll", "strcpy", "strdup", "strerror", "strlen", "strncat",
    "strncmp", "strncpy", "strsep", "strstr", "strtod", "strtok", "strtol", "strxfrm", "swab", "symlink", "sync", "syscall",
    "sysconf", "system", "tan", "tanh", "tee", "tgamma", "time", "times", "timespec", "timezone", "tm", "tmpfile", "tmpnam",
    "tolower", "toupper", "trunc", "truncate", "ttyname", "tzname", "tzset", "umask", "uname", "ungetc", "unlink", "usleep",
    "utime", "vfork", "vprintf", "wait", "wctype", "write", "y0", "y1", "yn",
};
// clang-format on
static_assert(std::ranges::is_sorted(kGlobalNames));

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// FNV-1a.
uint64_t hash(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325u;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

/// The code point at the beginning of `text` and its length in bytes, which is 0 if it is not valid UTF-8.
struct CodePoint {
  uint32_t value = 0;
  std::size_t bytes = 0;
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  uint32_t value = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kSmallest[length] || value > 0x10ffff || surrogate) return {};
  return {value, length};
}

/// Control characters, marks without width or that change the direction, line separators, private and unassigned
/// planes.
bool is_deceptive(uint32_t c) {
  const auto in = [&](uint32_t first, uint32_t last) { return first <= c && c <= last; };
  return c < 0x20 || in(0x7f, 0xa0) || c == 0xad || in(0x300, 0x36f) || c == 0x61c || in(0x115f, 0x1160) || in(0x17b4, 0x17b5) ||
         in(0x180b, 0x180f) || in(0x2000, 0x200f) || in(0x2028, 0x202f) || in(0x205f, 0x206f) || c == 0x3000 || c == 0x3164 ||
         in(0xe000, 0xf8ff) || in(0xfe00, 0xfe0f) || c == 0xfeff || c == 0xffa0 || in(0xfff0, 0xffff) || c >= 0xe0000;
}

}  // namespace

std::string make_identifier(std::string_view name, std::string_view when_empty) {
  std::string text;
  bool lower = false;
  // Reading stops early; the rest still counts in the hash.
  for (char c : name) {
    if (text.size() > kLongestIdentifier) break;
    if (is_lower(c) || is_upper(c) || is_digit(c)) {
      text += c;
      lower |= is_lower(c);
    } else if (!text.empty() && text.back() != '_') {
      text += '_';
    }
  }
  if (text.size() > kLongestIdentifier) {
    text = fmt::format("{}_{:016x}", text.substr(0, kLongestIdentifier - 17), hash(name));
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == '_' && b == '_'; }), text.end());
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  if (text.empty()) text = when_empty;
  if (is_digit(text[0])) text.insert(0, "v");
  // Macros are written in capitals.
  if (!lower && text.size() > 2)
    std::ranges::transform(text, text.begin(), [](char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
  if (std::ranges::binary_search(kReserved, text)) text += '_';
  return text;
}

NamespaceProblem namespace_problem(std::string_view name) {
  const auto is_letter = [](char c) { return is_lower(c) || is_upper(c) || c == '_'; };
  if (name.empty() || !is_letter(name[0]) || !std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); }))
    return {"is no identifier of C++"};
  if (name[0] == '_' || name.find("__") != name.npos) return {"is a name that C++ keeps for compilers and libraries"};
  if (name.back() == '_') return {"ends with an underscore, so that C symbols would have two"};
  if (name.starts_with("onnxc")) return {"begins with onnxc, as the names of the runtime do"};
  if (std::ranges::binary_search(kElsewhere, name)) return {"is a macro of some systems' headers, or a word of some forms of C++", true};
  if (std::ranges::binary_search(kReserved, name)) return {"is a word of C++ or a macro of its library"};
  if (std::ranges::binary_search(kMacros, name)) return {"is a macro of the C library"};
  const auto is_global = [](std::string_view word) { return std::ranges::binary_search(kGlobalNames, word); };
  // expf and expl belong to exp.
  const bool brother = (name.back() == 'f' || name.back() == 'l') && is_global(name.substr(0, name.size() - 1));
  if (brother || is_global(name)) return {"is a function or an object of the C library"};
  return {};
}

std::string make_namespace(std::string_view name) {
  std::string text = make_identifier(name, "model");
  // make_identifier appends an underscore to keywords, and the C symbol would then have two.
  if (text.back() == '_') text.pop_back();
  return namespace_problem(text).why.empty() ? text : "model_" + text;
}

std::string Names::add(std::string_view name, std::string_view when_empty) {
  const std::string base = make_identifier(name, when_empty);
  if (used_.insert(base).second) return base;
  const char* separator = base.back() == '_' ? "" : "_";
  for (int& suffix = last_suffix_.try_emplace(base, 1).first->second;;) {
    std::string candidate = fmt::format("{}{}{}", base, separator, ++suffix);
    if (used_.insert(candidate).second) return candidate;
  }
}

std::string comment_text(std::string_view text, std::size_t max_bytes) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (out.size() >= max_bytes) {
      out += fmt::format("... ({} bytes)", text.size());
      break;
    }
    const CodePoint c = decode(text.substr(at));
    const char before = out.empty() ? '\0' : out.back();
    if (c.bytes == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    } else if (is_deceptive(c.value)) {
      out += c.value < 0x80 ? fmt::format("\\x{:02x}", c.value) : fmt::format("\\u{:04x}", c.value);
    } else if ((c.value == '?' && before == '?') || (c.value == '/' && before == '*') || (c.value == '*' && before == '/')) {
      out += fmt::format("\\x{:02x}", c.value);
    } else {
      out += text.substr(at, c.bytes);
    }
    at += std::max<std::size_t>(c.bytes, 1);
  }
  // A backslash at the end of a line, even before spaces, would join it with the next one.
  const std::size_t last = out.find_last_not_of(' ');
  out.resize(last == std::string::npos ? 0 : last + 1);
  if (!out.empty() && out.back() == '\\') out += "x5c";
  return out;
}

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '?' && out.back() == '?') {
      out += "\\?";
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      // Three digits, so that what follows cannot be read as part of it.
      out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    }
  }
  return out + '"';
}

}  // namespace onnxc
