// A socket whose operations have a time limit.
#pragma once
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace onnxc::serving {

using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::strand<boost::asio::io_context::executor_type>>;

/// A socket whose operations end with operation_aborted once their time is over. It stays open, so that the client is told. (Beast's own stream closes it.)
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(Socket socket) : socket_(std::move(socket)), timer_(socket_.get_executor()) {}
  Socket& socket() { return socket_; }
  auto get_executor() { return socket_.get_executor(); }
  /// For what is begun from now on, on the socket's strand.
  void expires_after(std::chrono::milliseconds time) {
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this(), begun = ++limits_](boost::system::error_code error) {
      if (const auto self = weak.lock(); self && !error && begun == self->limits_) self->cancel();
    });
  }
  void expires_never() {
    ++limits_;
    timer_.cancel();
  }
  void cancel() {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }

 private:
  Socket socket_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Socket::executor_type>
      timer_;
  int limits_ = 0;
};

}  // namespace onnxc::serving
