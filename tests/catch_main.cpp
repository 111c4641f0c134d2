// The main function of the test programs, compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
