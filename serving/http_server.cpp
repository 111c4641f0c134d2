#include "serving/http_server.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "serving/later.h"
#include "serving/log.h"
#include "serving/protocol.h"
#include "serving/stream.h"

namespace onnxc::serving {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using net::ip::tcp;
constexpr std::size_t kHeaderBytes = 16 << 10;
constexpr std::size_t kGrowth = 8;  // of a body that is read: a number takes two bytes of JSON, and a string four of binary data
constexpr std::size_t kFrameBytes = 256 << 10;
constexpr std::chrono::seconds kLinger{2}, kGrace{1};
constexpr std::size_t kLingerBytes = 1 << 20;
constexpr const char* kJsonBytes = "Inference-Header-Content-Length";

using Fields = http::request<http::string_body>;

/// What is wrong with how a message says where it ends. Who is unsure of that would take the rest of it for the next request.
std::string framing_fault(const Fields& fields) {
  const auto encodings = fields.count(http::field::transfer_encoding);
  if (encodings > 1 || (encodings == 1 && !beast::iequals(fields[http::field::transfer_encoding], "chunked")))
    return "of transfer encodings 'chunked' alone is known";
  if (encodings > 0 && (fields.version() < 11 || fields.count(http::field::content_length) > 0))
    return "the length of the body is not clear";
  if (fields.version() >= 11 && fields.count(http::field::host) != 1) return "one header Host is needed";
  return {};
}

HttpRequest head_of(const Fields& fields) {
  HttpRequest request;
  request.method = std::string(fields.method_string());
  if (request.method == "HEAD") request.method = "GET";
  request.target = std::string(fields.target());
  if (const auto found = fields.find(kJsonBytes); found != fields.end()) request.json_bytes = std::string(found->value());
  request.content_encoding = std::string(fields[http::field::content_encoding]);
  return request;
}

}  // namespace

class HttpServer::State : public std::enable_shared_from_this<State> {
 public:
  State(const HttpOptions& options, Service& service, Metrics& metrics) : options_(options), service_(service), metrics_(metrics) {
    beast::error_code error;
    const auto address = net::ip::make_address(options.address, error);
    if (error) throw ListenError("'" + options.address + "' is no IP address to listen at");
    const tcp::endpoint endpoint(address, options.port);
    const auto need = [&](const char* what) {
      if (error)
        throw ListenError("cannot listen at " + options.address + ", port " + std::to_string(options.port) + ": " + what + error.message());
    };
    acceptor_.open(endpoint.protocol(), error);
    need("");
    acceptor_.set_option(net::socket_base::reuse_address(true), error);
    acceptor_.bind(endpoint, error);
    need("");
    acceptor_.listen(net::socket_base::max_listen_connections, error);
    need("");
  }

  uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void start() {
    net::co_spawn(accepting_, accept(), net::detached);
    for (int k = 0; k < std::max(1, options_.threads); ++k) threads_.emplace_back([this] { context_.run(); });
  }

  bool drain(std::chrono::milliseconds limit) {
    const auto begin = Clock::now();
    is_draining_.store(true);
    net::post(accepting_, [self = shared_from_this()] { self->stop_accepting(); });
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (connections_.empty() && has_stopped_) return true;
        if (Clock::now() - begin > kGrace) {
          for (const Connection& connection : connections_)
            net::post(connection.stream->get_executor(), [connection] {
              if (*connection.is_idle) connection.stream->cancel();
            });
        }
      }
      if (Clock::now() - begin > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  void stop() {
    work_.reset();
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  struct Connection {
    std::shared_ptr<Stream> stream;
    std::shared_ptr<bool> is_idle;  // read and written on the stream's strand
  };

  /// A part of what all bodies together may take.
  class Share {
   public:
    Share(std::atomic<std::size_t>& all, std::size_t most, std::size_t bytes) : all_(all), bytes_(bytes) {
      is_granted_ = all_.fetch_add(bytes) + bytes <= most || bytes == 0;
      if (!is_granted_) all_.fetch_sub(std::exchange(bytes_, 0));
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { all_.fetch_sub(bytes_); }
    bool is_granted() const { return is_granted_; }

   private:
    std::atomic<std::size_t>& all_;
    std::size_t bytes_;
    bool is_granted_ = false;
  };

  void stop_accepting() {
    beast::error_code ignored;
    acceptor_.cancel(ignored);
  }

  net::awaitable<void> accept() {
    while (true) {
      beast::error_code error;
      // What waits to be accepted when the server ends still is: it may be a client's request.
      if (is_draining_.load()) acceptor_.non_blocking(true, error);
      Socket accepted(net::make_strand(context_));
      if (is_draining_.load()) {
        acceptor_.accept(accepted, error);
        if (error) break;
      } else {
        co_await acceptor_.async_accept(accepted, net::redirect_error(net::use_awaitable, error));
        if (error == net::error::operation_aborted) continue;
        if (error) {  // no descriptors, most often: some connection will end
          log(LogLevel::Errors, "not accepted", {{"error", json_string(error.message())}});
          net::steady_timer timer(accepting_, std::chrono::milliseconds(100));
          co_await timer.async_wait(net::redirect_error(net::use_awaitable, error));
          continue;
        }
      }
      const auto stream = std::make_shared<Stream>(std::move(accepted));
      stream->socket().set_option(tcp::no_delay(true), error);
      net::co_spawn(stream->get_executor(), connection(shared_from_this(), stream), net::detached);
    }
    beast::error_code ignored;
    acceptor_.close(ignored);
    const std::lock_guard lock(mutex_);
    has_stopped_ = true;
  }

  /// All requests of a connection.
  static net::awaitable<void> connection(std::shared_ptr<State> self, std::shared_ptr<Stream> stream) {
    const auto is_idle = std::make_shared<bool>(false);
    std::list<Connection>::iterator entry;
    bool is_welcome = true;
    {
      const std::lock_guard lock(self->mutex_);
      is_welcome = self->connections_.size() < self->options_.connections;  // those that are refused do not count
      if (is_welcome) entry = self->connections_.insert(self->connections_.end(), {stream, is_idle});
      self->metrics_.connections.store(static_cast<int64_t>(self->connections_.size()));
    }
    try {
      if (is_welcome) {
        co_await self->serve(stream, *is_idle);
      } else {
        self->metrics_.refused_connections.fetch_add(1);
        co_await self->refuse(*stream, 503, "too many connections");
      }
    } catch (const std::exception& error) {  // memory: this connection ends, the others do not
      log(LogLevel::Errors, "connection ended", {{"error", json_string(error.what())}});
    }
    beast::error_code ignored;
    stream->socket().close(ignored);
    stream->expires_never();
    if (!is_welcome) co_return;
    const std::lock_guard lock(self->mutex_);
    self->connections_.erase(entry);
    self->metrics_.connections.store(static_cast<int64_t>(self->connections_.size()));
  }

  net::awaitable<void> serve(std::shared_ptr<Stream> shared, bool& is_idle) {
    Stream& stream = *shared;
    beast::flat_buffer buffer;
    while (true) {
      beast::error_code error;
      auto caught = net::redirect_error(net::use_awaitable, error);
      http::request_parser<http::string_body> parser;
      parser.header_limit(kHeaderBytes);
      parser.body_limit(options_.body_bytes);
      if (buffer.size() == 0) {  // else the client sends the next request before it has its answer
        stream.expires_after(options_.idle_limit);
        stream.limit_bytes(kHeaderBytes);
        is_idle = true;
        const std::size_t bytes = co_await stream.async_read_some(buffer.prepare(kHeaderBytes), caught);
        is_idle = false;
        if (error) co_return;
        buffer.commit(bytes);
      }
      stream.expires_after(options_.header_limit);
      stream.limit_bytes(kHeaderBytes);
      co_await http::async_read_header(stream, buffer, parser, caught);
      if (error == http::error::end_of_stream) co_return;
      if (error) co_return co_await refuse_message(stream, error);
      if (const std::string wrong = framing_fault(parser.get()); !wrong.empty()) co_return co_await refuse(stream, 400, wrong);
      const bool is_chunked = parser.chunked();
      const std::size_t bytes = is_chunked ? options_.body_bytes : static_cast<std::size_t>(parser.content_length().value_or(0));
      if (bytes > options_.body_bytes)
        co_return co_await refuse(stream, 413, "the body is larger than " + std::to_string(options_.body_bytes) + " bytes");
      const Share share(bodies_, options_.bodies_bytes, kGrowth * bytes);
      if (!share.is_granted()) co_return co_await refuse(stream, 503, "too many requests are being read; try again");
      HttpRequest request = head_of(parser.get());  // before trailers come, which are no headers
      stream.expires_after(time_for(bytes));
      // What frames chunks, and what follows them, has a limit, too.
      stream.limit_bytes(bytes + (is_chunked ? bytes / 4 + kFrameBytes : kHeaderBytes));
      if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
        http::response<http::empty_body> go_on(http::status::continue_, parser.get().version());
        co_await http::async_write(stream, go_on, caught);
        if (error) co_return;
      }
      co_await http::async_read(stream, buffer, parser, caught);
      if (error) co_return co_await refuse_message(stream, error);
      stream.expires_never();
      http::request<http::string_body> message = parser.release();
      const bool keeps = message.keep_alive() && !is_draining_.load(std::memory_order_relaxed);
      const unsigned version = message.version();
      const bool is_head = message.method() == http::verb::head;
      request.body = std::move(message.body());
      const HttpAnswer answer = co_await ask(shared, std::move(request));
      http::response<http::string_body> response(static_cast<http::status>(answer.status), version);
      response.set(http::field::content_type, answer.type);
      if (answer.json_bytes) response.set(kJsonBytes, std::to_string(*answer.json_bytes));
      if (answer.status == 405)
        response.set(http::field::allow,
                     message.target().starts_with("/v2/repository") || message.target().ends_with("/infer") ? "POST" : "GET");
      response.keep_alive(keeps && !is_draining_.load(std::memory_order_relaxed));
      response.body() = answer.body;
      response.prepare_payload();
      if (is_head) response.body().clear();
      stream.expires_after(time_for(response.body().size()));
      co_await http::async_write(stream, response, caught);
      if (error) co_return;
      if (!response.keep_alive()) {
        stream.socket().shutdown(tcp::socket::shutdown_send, error);
        co_return;
      }
    }
  }

  /// A request that waits for its answer, and its client.
  struct Watched {
    bool is_waiting = true;  // on the stream's strand
    std::atomic<bool> has_left{false};
  };

  /// Sees a client that closes its side before it has its answer.
  static void watch(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Watched>& watched) {
    stream->socket().async_wait(tcp::socket::wait_read, [stream, watched](beast::error_code error) {
      if (error || !watched->is_waiting) return;
      // It may be woken for bytes that have been read already. To look must not wait.
      char byte = 0;
      const ssize_t found = ::recv(stream->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      if (found == 0) watched->has_left.store(true);
      if (found < 0) watch(stream, watched);
    });
  }

  /// How long so many bytes may take on their way.
  std::chrono::milliseconds time_for(std::size_t bytes) const { return options_.body_limit + std::chrono::milliseconds(bytes / 1000); }

  net::awaitable<HttpAnswer> ask(std::shared_ptr<Stream> stream, HttpRequest request) {
    const auto later = std::make_shared<Later<std::function<HttpAnswer()>>>();
    const auto watched = std::make_shared<Watched>();
    const std::string logged = log_level() == LogLevel::Requests ? request.method + " " + request.target : std::string();
    const auto begin = Clock::now();
    service_.handle(
        std::move(request),
        [later, executor = stream->get_executor()](std::function<HttpAnswer()> make) { later->give(executor, std::move(make)); },
        [watched] { return watched->has_left.load(); });
    watch(stream, watched);
    const std::function<HttpAnswer()> make = co_await later->get();
    watched->is_waiting = false;
    stream->cancel();
    HttpAnswer answer = make();
    if (!logged.empty())
      log(LogLevel::Requests, "request",
          {{"request", json_string(logged)},
           {"status", std::to_string(answer.status)},
           {"bytes", std::to_string(answer.body.size())},
           {"seconds", std::to_string(std::chrono::duration<double>(Clock::now() - begin).count())}});
    co_return answer;
  }

  net::awaitable<void> refuse_message(Stream& stream, beast::error_code error) {
    if (error == http::error::header_limit)
      co_return co_await refuse(stream, 431, "the header is larger than " + std::to_string(kHeaderBytes) + " bytes");
    if (error == net::error::message_size)
      co_return co_await refuse(stream, 413, "the frame of the message is larger than what it may hold");
    if (error == http::error::body_limit)
      co_return co_await refuse(stream, 413, "the body is larger than " + std::to_string(options_.body_bytes) + " bytes");
    if (error == net::error::operation_aborted) co_return co_await refuse(stream, 408, "the request took too long to come");
    if (error.category() == http::make_error_code(http::error::end_of_stream).category() && error != http::error::partial_message)
      co_return co_await refuse(stream, 400, "this is no HTTP request: " + error.message());
  }

  /// Answers, and ends the connection so that the client reads the answer although it may still be sending.
  net::awaitable<void> refuse(Stream& stream, unsigned status, std::string what) {
    if (status < 500) metrics_.bad_requests.fetch_add(1, std::memory_order_relaxed);
    const HttpAnswer answer = error_answer(status, what);
    http::response<http::string_body> response(static_cast<http::status>(status), 11);
    response.set(http::field::content_type, answer.type);
    response.keep_alive(false);
    response.body() = answer.body;
    response.prepare_payload();
    beast::error_code error;
    auto caught = net::redirect_error(net::use_awaitable, error);
    stream.expires_after(kLinger);
    stream.limit_bytes(kLingerBytes);
    co_await http::async_write(stream, response, caught);
    if (error) co_return;
    stream.socket().shutdown(tcp::socket::shutdown_send, error);
    std::array<char, 4096> rest{};
    while (!error) co_await stream.async_read_some(net::buffer(rest), caught);
  }

  const HttpOptions options_;
  Service& service_;
  Metrics& metrics_;
  net::io_context context_;
  std::optional<net::executor_work_guard<net::io_context::executor_type>> work_{net::make_work_guard(context_)};
  net::strand<net::io_context::executor_type> accepting_{net::make_strand(context_)};
  tcp::acceptor acceptor_{accepting_};
  std::atomic<bool> is_draining_{false};
  std::atomic<std::size_t> bodies_{0};
  std::mutex mutex_;
  std::list<Connection> connections_;
  bool has_stopped_ = false;
  std::vector<std::thread> threads_;
};

HttpServer::HttpServer(const HttpOptions& options, Service& service, Metrics& metrics)
    : state_(std::make_shared<State>(options, service, metrics)) {}
HttpServer::~HttpServer() { state_->stop(); }
uint16_t HttpServer::port() const { return state_->port(); }
void HttpServer::start() { state_->start(); }
bool HttpServer::drain(std::chrono::milliseconds limit) { return state_->drain(limit); }

}  // namespace onnxc::serving
