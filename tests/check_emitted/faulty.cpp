// A unit with one fault of each kind. A line's comment names the rule that it breaks, and check.py compares; other lines break none.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>

namespace {

int counter = 0;  // state
constexpr int kTable[4] = {1, 2, 3, 4};

struct Hidden {
  mutable int count = 0;
};
const Hidden hidden;  // state
struct Shared {
  static inline int count = 0;  // state
};

int factorial(int n) {  // recursion
  return n < 2 ? 1 : n * factorial(n - 1);
}

int is_even(int n);
int is_odd(int n) {  // recursion
  return n == 0 ? 0 : is_even(n - 1);
}
int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }

template <class F>
int twice(F f) {
  return f(1) + f(2);
}

struct Base {
  virtual int value() const { return 1; }
};
struct Derived : Base {
  int value() const override { return 2; }
};

[[maybe_unused]] int nobody_calls_this() { return std::rand(); }

int allocates(int n) {
  int* const block = new int[4];  // allocation
  int some[n];                    // allocation
  std::memset(some, 0, sizeof some);
  const int first = block[0] + some[0];
  delete[] block;  // allocation
  return first;
}

int takes(std::size_t n) {
  void* const raw = ::operator new(n);  // allocation
  ::operator delete(raw);               // allocation
  alignas(int) std::byte room[sizeof(int)];
  new (room) int(1);
  std::memset(__builtin_alloca(n), 0, n);     // allocation
  return *static_cast<int*>(std::malloc(n));  // allocation
}

int throws(int n, const Base& base) {
  if (n == 3) throw n;                                              // exception
  try {                                                             // exception
    return dynamic_cast<const Derived*>(&base) != nullptr ? 1 : 0;  // exception
  } catch (...) {
    return 2;
  }
}

int drops_const(const int* in) {
  int* const cast = (int*)in;              // const
  int& reference = const_cast<int&>(*in);  // const
  const void* const same = (const void*)in;
  return *cast + reference + (same != nullptr) + *const_cast<int*>(in);  // const
}

int beyond(std::span<const int, 2> two, std::span<const int> any) {
  constexpr std::array<int, 3> three = {1, 2, 3};
  const int* const end = kTable + 4;
  int sum = end[-1] + three[2] + two[1] + any[9] + kTable[3];
  sum += kTable[4];      // index
  sum += kTable[-1];     // index
  sum += three[3];       // index
  sum += two[2];         // index
  sum += *(kTable + 5);  // index
  return sum;
}

int never_ends(int n) {
  while (true) {  // loop
    if (++n > 9) break;
  }
  do {  // loop
    if (++n > 19) break;
  } while (true);
again:
  if (++n < 29) goto again;  // loop
  if (n > 1000) goto end;
  for (;;) {  // loop
    if (++n > 90) return n;
  }
end:
  return n;
}

int bounded(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += i;
  while (n > 0) --n;
  return sum + static_cast<int>(std::sqrt(2.0f));
}

int assembles(int n) {
  asm volatile("nop");  // assembly
  asm("" : "+r"(n));
  const auto inside = [](int x) {
    asm volatile("cli");  // assembly
    return x;
  };
  n = inside(n);
  return n;
}

}  // namespace

asm(".pushsection .rodata.w,\"a\"\n.globl w\nw:\n.byte 1\n.popsection");
asm("call system");  // assembly

extern "C" int unknown(int n);
int (*chosen(bool first))(int) {
  return first ? unknown : nullptr;  // leaf
}

extern "C" int run(const int* in, int n) {
  static int calls = 0;       // state
  thread_local int mine = 0;  // state
  static constexpr int kFixed = 3;
  ++calls, ++counter, ++mine, ++hidden.count, ++Shared::count;
  n += twice([](auto x) { return x + (std::getenv("X") != nullptr ? 1 : 0); });  // leaf
  return factorial(n) + is_odd(n) + allocates(n) + takes(8) + throws(n, Derived{}) + drops_const(in) +
         beyond(std::span<const int, 2>(in, 2), {in, 10}) + never_ends(n) + bounded(n) + assembles(n) + chosen(n > 3)(n) + kFixed;
}
