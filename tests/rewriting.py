"""What checks of commands that rewrite models share: they count, run the command, and see that bad input is refused.

    checks = Checks("quantize")
    checks.run(path, output, "--calibration", data)
    checks.expect(holds, "what is promised", found)
    checks.refused(path, output, "part of the error")
    checks.end()

The units that such a command builds on the way are built with -O0, and with -O1 for large networks, which run for longer than they are compiled.
"""
import os
import subprocess
from pathlib import Path

from at_level import at_level
from expectations import Expectations

ALL = os.environ.get("ONNXC_ALL_NETWORKS") == "1"  # test.sh --all
os.environ.update(at_level("-O1" if ALL else "-O0"))


class Checks(Expectations):
    def run(self, path, output, *options, status=0):
        done = subprocess.run([os.environ["ONNXC_EXECUTABLE"], self.name, str(path), "-o", str(output), *map(str, options)], capture_output=True, text=True, errors="replace")
        self.expect(done.returncode == status, f"{self.name} {path} {options}", f"exit status {done.returncode}, not {status}: {done.stdout[-500:]}{done.stderr[-700:]}")
        return done

    def refused(self, path, output, what, *options, status=1):
        """The last line says it, as the only error, and nothing is written."""
        lines = self.run(path, output, *options, status=status).stderr.strip().splitlines()
        errors = [line for line in lines if "error[" in line]
        self.expect(len(errors) == 1 and lines[-1] == errors[0] and what in errors[0] and errors[0].startswith("onnxc: error["), f"refused: {what}", lines)
        self.expect(not Path(output).exists(), f"nothing is written: {what}")
