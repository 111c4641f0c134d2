// The program of a server with its models inside.
#include "serving/linked_server.h"

#include <csignal>
#include <cstdio>
#include <ctime>

#include "serving/log.h"
#include "serving/processor.h"
#include "serving/protocol.h"
#include "serving/server.h"

namespace onnxc::serving {
namespace {

std::vector<ModelSource> sources() {
  std::vector<ModelSource> list;
  for (const LinkedModel& linked : linked_models()) {
    list.push_back({linked.name, linked.version, "this program", [&linked] {
                      const onnxc_model* const model = linked.model();
                      if (const std::string missing = missing_instructions(model->target); !missing.empty())
                        throw std::runtime_error(std::string("it is compiled for ") + model->target + ", and this processor has no " +
                                                 missing);
                      return ModelSource::Unit{model, nullptr};
                    }});
  }
  return list;
}

int run(int argc, char** argv) {
  CLI::App app{"A server of the Open Inference Protocol v2 with its models inside, made by onnxc."};
  ServerOptions options;
  options.http.address = "0.0.0.0";
  options.add_to(app);
  CLI11_PARSE(app, argc, argv);
  for (const LinkedModel& linked : linked_models()) options.batch.threads = std::max(options.batch.threads, linked.threads);
  options.service.version = ONNXC_VERSION;
  options.finish();

  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // for all threads
  std::signal(SIGPIPE, SIG_IGN);
  return serve(options, sources, [&] {
    const timespec none{0, 0};
    const int signal = sigtimedwait(&signals, nullptr, &none);
    return signal == SIGTERM || signal == SIGINT ? Wanted::End : Wanted::Nothing;  // nothing of it can change: SIGHUP has no effect
  });
}

}  // namespace
}  // namespace onnxc::serving

int main(int argc, char** argv) {
  try {
    return onnxc::serving::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
