#include "serving/service.h"

#include <algorithm>
#include <charconv>

#include "serving/describe_model.h"
#include "serving/log.h"
#include "serving/protocol.h"

namespace onnxc::serving {
namespace {

/// The parts of a path between its slashes, with %XX decoded; nothing where that is malformed.
std::optional<std::vector<std::string>> path_parts(std::string_view target) {
  if (target.starts_with("http://")) target.remove_prefix(std::min(target.find('/', 7), target.size()));  // as for a proxy
  target = target.substr(0, target.find_first_of("?#"));
  if (target.empty() || target.front() != '/') return std::nullopt;
  std::vector<std::string> parts(1);
  for (std::size_t i = 1; i < target.size(); ++i) {
    if (target[i] == '/') {
      parts.emplace_back();
    } else if (target[i] == '%') {
      unsigned code = 0;
      const char* const digits = target.data() + i + 1;
      if (target.size() - i < 3 || std::from_chars(digits, digits + 2, code, 16).ptr != digits + 2) return std::nullopt;
      parts.back() += static_cast<char>(code);
      i += 2;
    } else {
      parts.back() += target[i];
    }
  }
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();  // a slash at the end
  return parts;
}

HttpAnswer json_answer(std::string body) { return {200, "application/json", std::move(body), {}}; }

void need_method(const HttpRequest& request, std::string_view method) {
  if (request.method != method) throw RequestError(405, "this path takes " + std::string(method) + ", not " + request.method);
}

std::optional<std::size_t> json_bytes(const HttpRequest& request) {
  if (!request.json_bytes) return std::nullopt;
  const std::string& text = *request.json_bytes;
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size())
    throw RequestError(400, "Inference-Header-Content-Length is a number of bytes");
  return bytes;
}

}  // namespace

HttpAnswer error_answer(unsigned status, const std::string& what) {
  return {status, "application/json", "{\"error\":" + json_string(what) + "}", {}};
}

void Service::handle(HttpRequest request, const Reply& reply, std::function<bool()> is_abandoned) {
  HttpAnswer failed;
  try {
    const auto parsed = path_parts(request.target);
    if (!parsed) throw RequestError(400, "the path is malformed");
    const std::vector<std::string>& path = *parsed;
    if (path.size() == 5 && path[0] == "v2" && path[1] == "repository" && path[2] == "models" && (path[4] == "load" || path[4] == "unload"))
      return control(request, path[3], path[4] == "load", reply);
    const bool has_version = path.size() == 6 && path[3] == "versions";
    if ((path.size() == 4 || has_version) && path[0] == "v2" && path[1] == "models" && path.back() == "infer")
      return infer(std::move(request), path[2], has_version ? path[4] : "", reply, std::move(is_abandoned));
    return reply([answer = answer_at_once(request, path)] { return answer; });
  } catch (const RequestError& error) {
    failed = error_answer(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    failed = error_answer(503, "there is not enough memory");
  }
  if (failed.status < 500) metrics_.bad_requests.fetch_add(1, std::memory_order_relaxed);
  reply([failed] { return failed; });
}

HttpAnswer Service::answer_at_once(const HttpRequest& request, const std::vector<std::string>& path) {
  const auto is = [&](std::initializer_list<std::string_view> wanted) { return std::ranges::equal(path, wanted); };
  if (is({"metrics"})) {
    need_method(request, "GET");
    return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text(), {}};
  }
  if (is({"v2"})) {
    need_method(request, "GET");
    return json_answer(R"({"name":"onnxc","version":)" + json_string(options_.version) +
                       R"(,"extensions":["binary_tensor_data","model_repository","model_configuration","statistics"]})");
  }
  if (is({"v2", "health", "live"})) {
    need_method(request, "GET");
    return json_answer(R"({"live":true})");
  }
  if (is({"v2", "health", "ready"})) {
    need_method(request, "GET");
    const bool is_ready = is_ready_.load();
    return {is_ready ? 200U : 503U, "application/json", is_ready ? R"({"ready":true})" : R"({"ready":false})", {}};
  }
  if (is({"v2", "repository", "index"})) {
    need_method(request, "POST");
    std::string text;
    for (const auto& model : repository_.all())
      text += std::string(text.empty() ? "" : ",") + "{\"name\":" + json_string(model->name) +
              ",\"version\":" + json_string(model->version) + R"(,"state":"READY","reason":""})";
    return json_answer("[" + text + "]");
  }
  if (is({"v2", "models", "stats"})) {
    need_method(request, "GET");
    std::string text;
    for (const auto& model : repository_.all()) text += (text.empty() ? "" : ",") + model_statistics(*model);
    return json_answer(R"({"model_stats":[)" + text + "]}");
  }
  if (path.size() >= 3 && path[0] == "v2" && path[1] == "models" && !path[2].empty()) {
    const bool has_version = path.size() >= 5 && path[3] == "versions";
    const std::size_t action = has_version ? 5 : 3;
    if (path.size() <= action + 1) return describe(request, path[2], has_version ? path[4] : "", path.size() > action ? path[action] : "");
  }
  throw RequestError(404, "there is nothing at this path");
}

HttpAnswer Service::describe(const HttpRequest& request, const std::string& name, const std::string& version, const std::string& what) {
  if (!what.empty() && what != "ready" && what != "config" && what != "stats") throw RequestError(404, "there is nothing at this path");
  need_method(request, "GET");
  const std::shared_ptr<LoadedModel> model = repository_.find(name, version);
  if (what.empty()) return json_answer(model_metadata(*model, repository_.versions(name)));
  if (what == "config") return json_answer(model_config(*model));
  if (what == "stats") return json_answer(R"({"model_stats":[)" + model_statistics(*model) + "]}");
  return json_answer("{\"name\":" + json_string(model->name) + ",\"ready\":true}");
}

void Service::infer(HttpRequest request, const std::string& name, const std::string& version, const Reply& reply,
                    std::function<bool()> is_abandoned) {
  need_method(request, "POST");
  const Clock::time_point arrival = Clock::now();
  const std::shared_ptr<LoadedModel> model = repository_.find(name, version);
  const auto counted = [model, arrival](HttpAnswer answer) {
    ModelMetrics& metrics = model->batcher.metrics();
    metrics.answers[std::min<std::size_t>(answer.status / 100, 5)].fetch_add(1, std::memory_order_relaxed);
    metrics.request_seconds.observe(std::chrono::duration<double>(Clock::now() - arrival).count());
    return answer;
  };
  HttpAnswer failed;
  try {
    if (!request.content_encoding.empty() && request.content_encoding != "identity")
      throw RequestError(415, "bodies are not compressed: send it without Content-Encoding");
    const auto job = std::make_shared<Job>(model->batcher.servable().make_job(read_request(std::move(request.body), json_bytes(request))));
    job->arrival = arrival;
    job->deadline = arrival + options_.request_limit;
    job->is_abandoned = std::move(is_abandoned);
    job->done = [model, counted, reply](std::shared_ptr<Job> done) {
      reply([model, counted, done = std::move(done)] {
        try {
          if (done->error) throw RequestError(*done->error);
          Answer written = write_answer(*done, model->batcher.servable(), model->name, model->version);
          return counted(
              {200, written.json_bytes ? "application/octet-stream" : "application/json", std::move(written.body), written.json_bytes});
        } catch (const RequestError& error) {
          return counted(error_answer(error.status(), error.what()));
        } catch (const std::bad_alloc&) {
          return counted(error_answer(503, "there is not enough memory"));
        }
      });
    };
    model->batcher.submit(job);
    return;
  } catch (const RequestError& error) {
    failed = error_answer(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    failed = error_answer(503, "there is not enough memory");
  }
  reply([counted, failed] { return counted(failed); });
}

void Service::control(const HttpRequest& request, const std::string& name, bool loads, const Reply& reply) {
  need_method(request, "POST");
  if (!options_.allows_control) throw RequestError(403, "this server loads and unloads no models by requests: --model-control allows it");
  start_([this, name, loads, reply] {
    HttpAnswer answer = json_answer("{}");
    if (!loads) {
      if (!repository_.unload(name)) answer = error_answer(404, "there is no model '" + name + "'");
    } else if (const std::vector<std::string> errors = repository_.load(name); !errors.empty()) {
      answer = error_answer(400, errors[0]);
    }
    reply([answer] { return answer; });
  });
}

}  // namespace onnxc::serving
