// The thread pool: every index runs once, in rounds that follow each other closely and in rounds after sleep.
#include <onnxc/base.hpp>
#include <onnxc/threads.hpp>

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

TEST_CASE("every index runs once") {
  for (int count : {1, 2, 5}) {
    for (int spins : {0, 100, 20'000}) {
      onnxc::ThreadPool threads(count, spins);
      for (int round = 0; round < 200; ++round) {
        std::vector<int> hits(size_t(round % 17));
        threads.parallel_for(int32_t(hits.size()), [&](int32_t i) { ++hits[size_t(i)]; });
        CHECK(hits == std::vector<int>(hits.size(), 1));
        if (round == 100) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
      const onnxc_executor executor = threads.executor();
      CHECK(executor.threads == count);
      std::vector<int> hits(10);
      executor.parallel_for(
          executor.self, 10, [](void* context, int32_t i) { ++(*static_cast<std::vector<int>*>(context))[size_t(i)]; }, &hits);
      CHECK(hits == std::vector<int>(10, 1));
    }
  }
}

TEST_CASE("work that is not worth a fork stays with the caller") {
  onnxc::ThreadPool pool(3);
  const onnxc_executor executor = pool.executor();
  const onnxc::Threads threads{&executor};
  for (bool worth : {false, true}) {
    std::vector<int> counts(3);
    threads.where(worth).run([&](onnxc::Share share) { counts[size_t(share.index)] = share.count; });
    CHECK(counts == (worth ? std::vector<int>{3, 3, 3} : std::vector<int>{1, 0, 0}));
  }
}

#if defined(__linux__)
TEST_CASE("workers that were woken may run wherever the caller may") {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  // Workers sleep at once. So each round wakes them, some of them late from the round before.
  onnxc::ThreadPool threads(4, 0);
  int elsewhere = 0;
  for (int round = 0; round < 20'000; ++round) {
    if (round % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round % 40));
    std::vector<cpu_set_t> at(8);
    threads.parallel_for(8, [&](int32_t i) { sched_getaffinity(0, sizeof at[size_t(i)], &at[size_t(i)]); });
    for (const cpu_set_t& one : at) elsewhere += !CPU_EQUAL(&one, &allowed);
  }
  CHECK(elsewhere == 0);
}
#endif
