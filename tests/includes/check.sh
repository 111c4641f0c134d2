#!/usr/bin/env bash
# Includes point one way: tools → codegen → compiler → targets; runtime_stub stands alone; ONNX's headers are for the frontend, and for commands that write
# models. And kernels are where the linker cannot mix them up.
set -u
cd "${1:-.}" || exit 2
status=0
forbid() {  # forbid FOLDER REGEX WHY
  [ -d "$1" ] || return 0
  local found
  found="$(grep -rnE --include='*.h' --include='*.hpp' --include='*.cpp' --include='*.inc' "^ *# *include *[<\"]($2)" "$1")"
  [ -z "$found" ] || { echo "$3:"; echo "$found" | sed 's/^/  /'; status=1; }
}
forbid targets 'compiler/|codegen/|tools/|tests/' 'targets/ is plain data and uses no other folder'
forbid compiler 'codegen/|tools/|tests/' 'compiler/ may use targets/ only'
forbid compiler/ir 'compiler/(frontend|ops|passes|select|lowering)/' 'compiler/ir/ is what all others stand on'
forbid compiler/passes 'compiler/(select|lowering)/' 'passes know no machine: compiler/ir/ and compiler/ops/ only'
forbid compiler/ops 'compiler/(select|lowering)/' 'operators see ops/kernel_query.h and ops/selected.h, and nothing of how machines compute'
forbid compiler/lowering/partition 'compiler/(ir|frontend|ops|passes|select|lowering/([^p]|p[^a]))|targets/' 'partitioning sees costs and bytes, and nothing of what nodes compute'
# What the compiler shares with the runtime: how values are computed, what planners and kernels agree on, types.
shared='scalar/|contract/|(base|fn|heap|memory|strided_copy|types|unicode_case)\.hpp"|model\.h"'
found="$(grep -rnE --include='*.h' --include='*.cpp' --include='*.inc' '^ *# *include *[<"](runtime_stub/)?onnxc/' compiler |
  grep -vE "[<\"](runtime_stub/)?onnxc/($shared)")"
[ -z "$found" ] || { echo "of runtime_stub/, compiler/ sees scalar/, contract/ and a few types:"; echo "$found" | sed 's/^/  /'; status=1; }
found="$(grep -rnE '^ *# *include' runtime_stub/onnxc/contract | grep -vE '# *include (<cstdint>|"\.\./isa\.hpp"|"[a-z_]+\.hpp")$')"
[ -z "$found" ] || { echo "contracts know no instruction set, and use nothing but each other:"; echo "$found" | sed 's/^/  /'; status=1; }
forbid codegen 'tools/|tests/|onnx/|google/protobuf/' 'codegen/ may use compiler/ and targets/ only'
forbid serving 'compiler/|codegen/|targets/|tools/|tests/|fmt/|nlohmann/|onnx/[a-z_]*\.pb' 'serving/ sees the runtime alone: programs with models inside compile it'
forbid runtime_stub 'compiler/|codegen/|targets/|tools/|tests/|fmt/|nlohmann/|CLI/|onnx/' 'runtime_stub/ stands alone'
found="$(grep -rnE --include='*.h' --include='*.cpp' '^ *# *include *[<"](onnx/|google/protobuf/)' compiler codegen targets tools 2>/dev/null | grep -vE '^(compiler/frontend|tools/(compress|model|quantize|reduce))/')"
[ -z "$found" ] || { echo "ONNX's headers are for compiler/frontend, and for commands that write models:"; echo "$found" | sed 's/^/  /'; status=1; }
# What interfaces show, and what functions of the compiler take, is the same for all machines; all else of the runtime is named by the instruction set. See isa.hpp.
found="$(grep -rnE '^namespace onnxc(::[a-z_]+)* [{]' runtime_stub --include='*.hpp' | grep -vE '^runtime_stub/onnxc/(base|types|threads|memory|shared_executor|gpu/interface|contract/columns)\.hpp:')"
[ -z "$found" ] || { echo "runtime headers open 'namespace onnxc::inline ONNXC_ISA':"; echo "$found" | sed 's/^/  /'; status=1; }
[ $status -ne 0 ] || echo "includes point one way"
exit $status
