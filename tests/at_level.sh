#!/usr/bin/env bash
# A C++ compiler for $ONNXC_CXX: $AT_LEVEL_CXX, with $AT_LEVEL (-O1 where it is not set) in the place of the level that it is given. -O1 takes less than half of the time of -O3, -O0 a quarter of that.
AT_LEVEL="${AT_LEVEL:--O1}"
case "$AT_LEVEL_CXX" in *at_level.sh*) echo "at_level.sh: \$AT_LEVEL_CXX is at_level.sh itself: who calls it twice?" >&2; exit 2 ;; esac
if [ "${1:-}" = --version ]; then
  $AT_LEVEL_CXX --version
  exec echo "$AT_LEVEL"  # another level is another compiler: what it made before is not taken from the cache
fi
exec $AT_LEVEL_CXX "$@" "$AT_LEVEL"
