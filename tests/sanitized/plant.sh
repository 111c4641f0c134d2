#!/usr/bin/env bash
# A C++ compiler that plants a fault: $PLANT_CXX, once the words of $PLANT for sed have changed each unit and header (case_*) of the folder that the command's last -I names.
if [ "${1:-}" = --version ]; then
  $PLANT_CXX --version
  exec echo "$PLANT"  # another plant is another compiler: what it made before is not taken from the cache
fi
for word in "$@"; do case "$word" in -I*) folder="${word#-I}" ;; esac; done
sed -i "$PLANT" "$folder"/case_*.cpp "$folder"/case_*.h
exec $PLANT_CXX "$@"
