// Where the emulator's plugin takes the counts.
#pragma once
#include <cstdint>

/// The number of calls before this one: the line of the plugin's file that belongs to it.
extern "C" std::uint32_t mark();
