// What a shared library made with `--emit=shared` exports beside a model that needs an allocator: an allocator, for
// callers in other languages.
//
// Include it in one translation unit of the library.
#pragma once
#include "memory.hpp"

/// Memory for onnxc_call.allocator; null where there is none left.
extern "C" __attribute__((visibility("default"))) void* onnxc_memory_new() { return new (std::nothrow) onnxc::Memory; }

extern "C" __attribute__((visibility("default"))) const onnxc_allocator* onnxc_memory_allocator(const void* memory) {
  return &static_cast<const onnxc::Memory*>(memory)->allocator();
}

/// Frees everything that runs took from it.
extern "C" __attribute__((visibility("default"))) void onnxc_memory_clear(void* memory) { static_cast<onnxc::Memory*>(memory)->clear(); }

extern "C" __attribute__((visibility("default"))) void onnxc_memory_delete(void* memory) { delete static_cast<onnxc::Memory*>(memory); }
