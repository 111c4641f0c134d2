// graph_opt: text graph in, passes, text graph out.
//
//   graph_opt --passes=simplify,eliminate_dead_code in.graph > out.graph
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <fstream>
#include <iostream>
#include <sstream>

#include "compiler/onnxc.h"

int main(int argc, char** argv) {
  CLI::App app{"Runs passes on a graph in text form."};
  std::string file;
  std::vector<std::string> passes;
  bool list = false;
  app.add_option("file", file, "Graph in text form; standard input without it");
  app.add_option("--passes", passes, "Names of passes, in order")->delimiter(',');
  app.add_flag("--list", list, "Print the names of all passes");
  CLI11_PARSE(app, argc, argv);
  try {
    if (list) {
      for (const auto& name : onnxc::pass_names()) fmt::print("{}\n", name);
      return 0;
    }
    std::stringstream text;
    if (file.empty()) {
      text << std::cin.rdbuf();
    } else {
      std::ifstream in(file);
      if (!in) throw onnxc::Error(onnxc::ErrorKind::Io, fmt::format("{} cannot be read", file));
      text << in.rdbuf();
    }
    onnxc::Graph graph = onnxc::parse_graph(text.str());
    onnxc::verify_graph(graph, "parsing");
    for (const auto& name : passes) graph = onnxc::run_pass(name, std::move(graph));
    std::cout << onnxc::print_graph(graph);
    return 0;
  } catch (const onnxc::Error& e) {
    for (const auto& d : e.diagnostics()) fmt::print(stderr, "graph_opt: {}\n", d.text());
    return e.exit_code();
  }
}
