// Kernels with the usual faults, each beside its sound form: the emulator ends the program with the kernel's line, or some
// order of threads and blocks gives other results. Every run is a process of its own.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/kernels/gpu/common.hpp"

using namespace onnxc;
using namespace onnxc::gpu;
using namespace onnxc::test;

namespace {

constexpr int kThreadsOfAll = 256;

/// All kernels write 1 to y[256].
struct Fields {
  static constexpr int kThreads = kThreadsOfAll;
  struct Shared {
    alignas(16) float values[kThreads];
    unsigned ticket;
  };
  float* y;
  unsigned* words;  // zeros
  float* parts;     // 256 for each block
};

template <bool kSound>
struct BarrierMissing : Fields {
  void operator()(Shared& s) const {
    s.values[thread()] = 1;
    if (kSound) sync_block();
    y[thread()] = s.values[255 - thread()];
  }
};

template <bool kSound>
struct BarrierMissingBeforeReuse : Fields {
  void operator()(Shared& s) const {
    bool good = true;
    for (int round = 0; round < 2; ++round) {
      s.values[thread()] = static_cast<float>(round);
      sync_block();
      good = good && s.values[(thread() + 31) % 256] == static_cast<float>(round);
      if (kSound) sync_block();
    }
    y[thread()] = good ? 1.0f : 0.0f;
  }
};

template <bool kSound>
struct BarrierUnderCondition : Fields {
  void operator()(Shared&) const {
    if (kSound || thread() < 128) sync_block();
    y[thread()] = 1;
  }
};

template <bool kSound>
struct BarriersApart : Fields {
  void operator()(Shared&) const {
    if (kSound || thread() < 128) sync_block();
    else sync_block();
    y[thread()] = 1;
  }
};

template <bool kSound>
struct HalfAWarp : Fields {
  void operator()(Shared&) const { y[thread()] = kSound || lane() < 16 ? shuffle_xor(1.0f, 8) : 1.0f; }
};

template <bool kSound>
struct LanesApart : Fields {
  void operator()(Shared&) const {
    if (kSound || lane() % 2 == 0) y[thread()] = shuffle_xor(1.0f, 2);
    else y[thread()] = shuffle_xor(1.0f, 2);
  }
};

template <bool kSound>
struct NoSuchLane : Fields {
  void operator()(Shared&) const { y[thread()] = shuffle_xor(1.0f, kSound ? 16 : 32); }
};

/// A warp that has no rows of its own must take part in the reduction all the same.
template <bool kSound>
struct ReductionOfSome : Fields {
  void operator()(Shared& s) const {
    const auto added = [](float a, float b) { return a + b; };
    if (kSound || warp() < 7) y[thread()] = reduce_block<kThreads>(warp() < 7 ? 1.0f : 0.0f, 0.0f, s.values, added) / (7 * 32);
    if (!kSound && warp() == 7) y[thread()] = 1;
  }
};

template <bool kSound>
struct EarlyEnd : Fields {
  void operator()(Shared&) const {
    y[thread()] = 1;
    if (!kSound && thread() >= 200) return;
    sync_block();
  }
};

template <bool kSound>
struct CopyNotWaitedFor : Fields {
  void operator()(Shared& s) const {
    if (thread() < 64) copy_async(&s.values[4 * thread()], parts + 4 * thread(), true);
    commit();
    if (kSound) wait<0>();
    sync_block();
    const float v = s.values[thread()];
    wait<0>();
    y[thread()] = v == v ? 1.0f : v;
  }
};

template <bool kSound>
struct CopyWaitedForByOneAlone : Fields {
  void operator()(Shared& s) const {
    if (thread() < 64) copy_async(&s.values[4 * thread()], parts + 4 * thread(), true);
    commit();
    wait<0>();
    if (kSound) sync_block();
    const float v = s.values[255 - thread()];
    y[thread()] = v == v ? 1.0f : v;
  }
};

template <bool kSound>
struct CopyLeftBehind : Fields {
  void operator()(Shared& s) const {
    if (thread() < 64) copy_async(&s.values[4 * thread()], parts + 4 * thread(), true);
    commit();
    y[thread()] = 1;
    if (kSound) wait<0>();
  }
};

template <bool kSound>
struct CopyNotAligned : Fields {
  void operator()(Shared& s) const {
    if (thread() < 32) copy_async(&s.values[4 * thread()], parts + 4 * thread() + (kSound ? 0 : 1), true);
    commit();
    wait<0>();
    y[thread()] = 1;
  }
};

template <bool kSound>
struct PairNotAligned : Fields {
  void operator()(Shared&) const {
    y[thread()] = 1;
    if (thread() < 4) store(y + thread() * 2 + (kSound ? 0 : 1), Pair<float>{{1, 1}});
  }
};

template <bool kSound>
struct LoadNotAligned : Fields {
  void operator()(Shared&) const {
    const Pack<float> all = load(y + (kSound ? thread() / 4 * 4 : thread()));
    y[thread()] = all.at[0] == all.at[0] ? 1.0f : 0.0f;
  }
};

template <bool kSound>
struct StoreBeyond : Fields {
  void operator()(Shared&) const {
    y[thread()] = 1;
    if (thread() == 255) y[thread() + (kSound ? 0 : 1)] = 1;
  }
};

template <bool kSound>
struct LoadBefore : Fields {
  void operator()(Shared&) const {
    volatile const float* const first = y;
    const float v = thread() == 0 ? first[kSound ? 0 : -1] : 0;
    y[thread()] = v == v ? 1.0f : 0.0f;
  }
};

template <bool kSound>
struct SharedUnset : Fields {
  void operator()(Shared& s) const {
    if (kSound) s.values[thread()] = 0;
    s.values[thread()] += 1;
    y[thread()] = s.values[thread()];
  }
};

template <bool kSound>
struct SharedBeyond : Fields {
  void operator()(Shared& s) const {
    volatile float* const values = s.values;
    values[thread() + (kSound ? 0 : 512)] = 1;
    y[thread()] = 1;
  }
};

/// Four blocks write parts, and the last to come has their mean. kFault 0: none; 1: no fence; 2: no barrier.
template <int kFault>
struct Ticket : Fields {
  void operator()(Shared& s) const {
    for (int round = 0; round < 5; ++round) sync_block();  // blocks are at different places when they come to their tickets
    parts[block().x * kThreads + thread()] = 1;
    if (kFault != 1) fence();
    if (kFault != 2) sync_block();
    if (thread() == 0) s.ticket = fetch_add(words, 1);
    sync_block();
    if (s.ticket != static_cast<unsigned>(blocks().x - 1)) return;
    fence();
    float sum = 0;
    for (int b = 0; b < blocks().x; ++b) sum += parts[b * kThreads + thread()];
    y[thread()] = sum / static_cast<float>(blocks().x);
  }
};

struct Fate {
  bool right = false;   ///< ran and gave 1 everywhere
  bool ended = false;   ///< by a signal
  std::string message;  ///< on its way
};

/// A process runs the kernel in the order of `seed`.
template <class Kernel>
Fate fate(unsigned seed) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);  // Catch would report them
    signal(SIGSEGV, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    emulator::settings().seed = seed;
    emulator::settings().workers = 1;
    void *y = nullptr, *words = nullptr, *parts = nullptr;
    if (allocate(y, 1024) || allocate(words, 64) || allocate(parts, 4096) || clear(nullptr, words, 64)) _exit(3);
    std::fill_n(static_cast<float*>(y), 256, 0.0f);
    if (std::is_base_of_v<Fields, Kernel>) std::fill_n(static_cast<float*>(parts), 256, 1.0f);
    if (launch(nullptr, Kernel{{static_cast<float*>(y), static_cast<unsigned*>(words), static_cast<float*>(parts)}},
               {seed == 0 ? 1 : 4, 1, 1}))
      _exit(3);
    bool right = true;
    for (int i = 0; i < 256; ++i) right = right && static_cast<const float*>(y)[i] == 1;
    _exit(right ? 0 : 1);
  }
  close(ends[1]);
  Fate f;
  char text[512];
  for (ssize_t n = 0; (n = read(ends[0], text, sizeof(text))) > 0;) f.message.append(text, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  f.ended = WIFSIGNALED(status) != 0;
  REQUIRE((f.ended || WEXITSTATUS(status) != 3));
  f.right = !f.ended && WEXITSTATUS(status) == 0;
  return f;
}

constexpr unsigned kSeeds = 6;

template <class Sound>
void expect_sound() {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Fate f = fate<Sound>(seed);
    CAPTURE(seed, f.message, f.ended);
    REQUIRE(f.right);
  }
}

/// The program is ended in every order, with a line of this file and these words.
template <template <bool> class Kernel>
void expect_ended(const std::string& words) {
  expect_sound<Kernel<true>>();
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Fate f = fate<Kernel<false>>(seed);
    CAPTURE(seed, f.message);
    REQUIRE(f.ended);
    REQUIRE(f.message.find(words) != std::string::npos);
    REQUIRE(f.message.find("broken.cpp:") != std::string::npos);
  }
}

/// Some order gives something else, or ends the program.
template <class Sound, class Broken>
void expect_found() {
  expect_sound<Sound>();
  int found = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) found += fate<Broken>(seed).right ? 0 : 1;
  REQUIRE(found > 0);
}

}  // namespace

TEST_CASE("a missing barrier gives other results in some order") {
  expect_found<BarrierMissing<true>, BarrierMissing<false>>();
  expect_found<BarrierMissingBeforeReuse<true>, BarrierMissingBeforeReuse<false>>();
  expect_found<CopyWaitedForByOneAlone<true>, CopyWaitedForByOneAlone<false>>();
}

TEST_CASE("threads that do not meet end the program") {
  expect_found<BarrierUnderCondition<true>, BarrierUnderCondition<false>>();
  expect_ended<BarriersApart>("threads of a block wait at different places");
  expect_found<EarlyEnd<true>, EarlyEnd<false>>();
  expect_found<ReductionOfSome<true>, ReductionOfSome<false>>();
}

TEST_CASE("lanes that do not meet end the program") {
  expect_found<HalfAWarp<true>, HalfAWarp<false>>();
  expect_ended<LanesApart>("lanes of a warp wait at different places");
  expect_ended<NoSuchLane>("a shuffle from a lane that a warp does not have");
}

TEST_CASE("copies that are not waited for do not come") {
  expect_found<CopyNotWaitedFor<true>, CopyNotWaitedFor<false>>();
  expect_ended<CopyLeftBehind>("a thread ends before its copies were waited for");
}

TEST_CASE("accesses that are not aligned end the program") {
  expect_ended<CopyNotAligned>("a copy of 16 bytes that is not aligned");
  expect_ended<LoadNotAligned>("a load of 16 bytes that is not aligned");
  expect_ended<PairNotAligned>("a store of two neighbours that is not aligned");
}

TEST_CASE("an access out of bounds ends the program") {
  expect_found<StoreBeyond<true>, StoreBeyond<false>>();
  expect_found<LoadBefore<true>, LoadBefore<false>>();
  expect_found<SharedBeyond<true>, SharedBeyond<false>>();
  const Fate f = fate<StoreBeyond<false>>(0);
  REQUIRE(f.ended);
  REQUIRE(f.message.find("an access beyond an allocation") != std::string::npos);
  REQUIRE(f.message.find("thread 255") != std::string::npos);
}

TEST_CASE("shared memory that was not set does not hold what a kernel wants") { expect_found<SharedUnset<true>, SharedUnset<false>>(); }

TEST_CASE("a ticket without a fence or a barrier before it is found") {
  expect_found<Ticket<0>, Ticket<2>>();
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const Fate f = fate<Ticket<1>>(seed);
    REQUIRE(f.ended);
    REQUIRE(f.message.find("no fence()") != std::string::npos);
  }
}
