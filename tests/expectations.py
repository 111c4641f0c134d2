"""What a check counts: expectations, and those that do not hold.

    checks = Expectations("onnxc verify")
    checks.expect(holds, "what is promised", found)
    checks.end()
"""
import sys


class Expectations:
    def __init__(self, name):
        self.name, self.failed, self.count = name, 0, 0

    def expect(self, holds, what, why=""):
        self.count += 1
        if not holds:
            self.failed += 1
            print(f"FAILED  {what}{': ' + str(why)[:2500] if why != '' else ''}", flush=True)
        return holds

    def end(self):
        """Ends the script, with exit status 1 if something does not hold."""
        print(f"{self.name}: {self.count - self.failed} of {self.count} hold")
        sys.exit(self.failed != 0)
