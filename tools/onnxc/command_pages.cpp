#include "tools/onnxc/command_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <iostream>
#include <vector>

namespace onnxc {
namespace {

/// An option as shells see it.
struct Flag {
  std::vector<std::string> names;  ///< "--math", "-o"
  std::string description, type;
  std::vector<std::string> values;  ///< those there are; empty: any
  bool takes_value = false;
};

std::vector<std::string> values_of(const std::string& type) {
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) {
      Flag flag{
          {}, option->get_description(), option->get_type_name(), values_of(option->get_type_name()), option->get_items_expected_max() > 0};
      for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
      for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
      flags.push_back(std::move(flag));
    }
  }
  return flags;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// For lists of a shell: what comes before the first bracket, colon, semicolon or full stop.
std::string brief(const std::string& text) {
  const std::string first = text.substr(0, text.find_first_of(".:;([\n"));
  return first.substr(0, first.find_last_not_of(' ') + 1);
}

/// In single quotes of a POSIX shell or of fish.
std::string quoted(const std::string& text, const std::string& end_and_begin) {
  std::string out;
  for (const char c : text) c == '\'' ? out += end_and_begin : out += c;
  return "'" + out + "'";
}

/// visit(name of the subcommand, or "", its app) for all commands.
void for_each_command(const CLI::App& app, const std::function<void(const std::string&, const CLI::App&)>& visit) {
  visit("", app);
  for (const CLI::App* sub : subcommands_of(app)) visit(sub->get_name(), *sub);
}

std::vector<std::string> names_of_subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : subcommands_of(app)) names.push_back(sub->get_name());
  return names;
}

std::string bash_script(const CLI::App& app) {
  std::string options, values;
  for_each_command(app, [&](const std::string& name, const CLI::App& command) {
    std::vector<std::string> names;
    for (const Flag& flag : flags_of(command)) {
      names.insert(names.end(), flag.names.begin(), flag.names.end());
      if (flag.values.empty()) continue;
      for (const std::string& spelling : flag.names)
        values +=
            fmt::format("    {}:{}) choices={} ;;\n", name, spelling, quoted(fmt::format("{}", fmt::join(flag.values, " ")), "'\\''"));
    }
    options +=
        fmt::format("    {}) options={} ;;\n", name.empty() ? "''" : name, quoted(fmt::format("{}", fmt::join(names, " ")), "'\\''"));
  });
  return fmt::format(R"(# bash completion for onnxc
_onnxc() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}" command="" options="" choices="" i
  [ "$word" != = ] || word=""
  [ "$before" != = ] || before="${{COMP_WORDS[COMP_CWORD - 2]}}"
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case " {0} " in *" ${{COMP_WORDS[i]}} "*) command="${{COMP_WORDS[i]}}"; break ;; esac
  done
  case "$command" in
{1}  esac
  case "$command:$before" in
{2}  esac
  if [ -n "$choices" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    [ "$COMP_CWORD" != 1 ] || mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -W "{0}" -- "$word")
    compopt -o filenames 2>/dev/null
  fi
}}
complete -F _onnxc onnxc
)",
                     fmt::join(names_of_subcommands(app), " "), options, values);
}

std::string zsh_script(const CLI::App& app) {
  const auto plain = [](const std::string& text) {  // for specifications of _arguments
    std::string out;
    for (const char c : text) {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  };
  std::string cases, commands;
  for_each_command(app, [&](const std::string& name, const CLI::App& command) {
    std::string specs;
    for (const Flag& flag : flags_of(command)) {
      for (const std::string& spelling : flag.names) {
        std::string spec =
            spelling + (flag.takes_value && spelling.starts_with("--") ? "=" : "") + "[" + plain(brief(flag.description)) + "]";
        if (flag.takes_value) spec += flag.values.empty() ? ":value:_files" : fmt::format(":value:({})", fmt::join(flag.values, " "));
        specs += " \\\n        " + quoted("*" + spec, "'\\''");
      }
    }
    cases += fmt::format("    {}) _arguments -s{} \\\n        '*:file:_files' ;;\n", name.empty() ? "''" : name, specs);
    if (!name.empty()) commands += fmt::format("    {}\n", quoted(name + ":" + brief(command.get_description()), "'\\''"));
  });
  return fmt::format(R"(#compdef onnxc
_onnxc() {{
  local command="" word
  local -a commands=(
{1}  )
  for word in ${{words[2,CURRENT-1]}}; do
    case " {0} " in *" $word "*) command=$word; break ;; esac
  done
  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then _describe command commands; fi
  case "$command" in
{2}  esac
}}
if [ "$funcstack[1]" = _onnxc ]; then _onnxc "$@"; else compdef _onnxc onnxc; fi
)",
                     fmt::join(names_of_subcommands(app), " "), commands, cases);
}

std::string fish_script(const CLI::App& app) {
  const std::string names = fmt::format("{}", fmt::join(names_of_subcommands(app), " "));
  std::string lines = "# fish completion for onnxc\n";
  for_each_command(app, [&](const std::string& name, const CLI::App& command) {
    const std::string when =
        quoted(name.empty() ? "not __fish_seen_subcommand_from " + names : "__fish_seen_subcommand_from " + name, "\\'");
    if (!name.empty())
      lines += fmt::format("complete -c onnxc -n {} -a {} -d {}\n", quoted("__fish_use_subcommand", "\\'"), name,
                           quoted(brief(command.get_description()), "\\'"));
    for (const Flag& flag : flags_of(command)) {
      std::string line = "complete -c onnxc -n " + when;
      for (const std::string& spelling : flag.names)
        line += spelling.starts_with("--") ? " -l " + spelling.substr(2) : " -s " + spelling.substr(1);
      if (!flag.values.empty()) line += " -x -a " + quoted(fmt::format("{}", fmt::join(flag.values, " ")), "\\'");
      else if (flag.takes_value) line += " -r";
      lines += line + " -d " + quoted(brief(flag.description), "\\'") + "\n";
    }
  });
  return lines;
}

std::string upper_case(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// Text of a page of man(7).
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
  }
  return out;
}

std::string roff_options(const CLI::App& app) {
  std::string page;
  for (const CLI::Option* option : app.get_options()) {
    std::string term = option->get_name(!option->nonpositional(), true);
    if (!option->get_type_name().empty() && option->get_items_expected_max() > 0) term += " " + option->get_type_name();
    if (!option->get_default_str().empty()) term += "=" + option->get_default_str();
    page += ".TP\n.B " + roff(term) + "\n" + roff(option->get_description()) + "\n";
  }
  return page;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  return shell == "bash" ? bash_script(app) : shell == "zsh" ? zsh_script(app) : fish_script(app);
}

std::string manual_page(const CLI::App& app) {
  const std::string description = app.get_description();
  const std::size_t examples = description.find("\n\n");
  std::string page = ".TH ONNXC 1 \"\" \"onnxc " ONNXC_VERSION "\" \"User Commands\"\n.SH NAME\nonnxc \\- compile ONNX models to C++\n";
  page += ".SH SYNOPSIS\n.B onnxc\n[options] model.onnx \\-o model.cpp\n.br\n.B onnxc\ncommand [options] model.onnx\n";
  page += ".SH DESCRIPTION\n" + roff(description.substr(0, examples)) + "\n";
  if (examples != std::string::npos) page += ".PP\n.nf\n" + roff(description.substr(examples + 2)) + "\n.fi\n";
  page += ".SH OPTIONS\n" + roff_options(app);
  for (const CLI::App* sub : subcommands_of(app))
    page += ".SH \"ONNXC " + upper_case(sub->get_name()) + "\"\n" + roff(sub->get_description()) + "\n" + roff_options(*sub);
  page +=
      ".SH EXIT STATUS\n0 success, 1 the model is invalid or unsupported, or something differs, 2 wrong usage, 3 a file, 4 a limit, 70 a "
      "bug.\n";
  page +=
      ".SH ENVIRONMENT\n.TP\n.B ONNXC_CXX\nThe C++ compiler for what is built at once; else CXX, else c++.\n.TP\n.B ONNXC_CACHE\nWhere "
      "built units and measured times are kept.\n.TP\n.B NO_COLOR\nNo colours.\n";
  return page;
}

void add_command_pages(CLI::App& app) {
  CLI::App& completion = *app.add_subcommand("completion", "Print a script for a shell's completion: eval \"$(onnxc completion bash)\"");
  completion.add_option("shell", "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion.callback([&app, &completion] {
    std::cout << completion_script(app, completion.get_option("shell")->as<std::string>());
    throw CLI::Success();
  });
  CLI::App& manual = *app.add_subcommand("manual", "Print the manual page: onnxc manual | man -l -");
  manual.callback([&app] {
    std::cout << manual_page(app);
    throw CLI::Success();
  });
}

}  // namespace onnxc
