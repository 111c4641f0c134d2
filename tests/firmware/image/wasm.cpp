// A module of WebAssembly. wasm.mjs loads it, gives it `show` and calls `measure`.
#include "machine.h"

extern "C" {
[[clang::import_module("host"), clang::import_name("show")]] void show(const char* text);

void put(const char* text) { show(text); }

// The linker has put the stack first, so it ends where memory begins. The first bytes are left to whatever takes address 0 for null.
std::byte* stack_limit() { return reinterpret_cast<std::byte*>(64); }
}
