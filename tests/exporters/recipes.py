#!/usr/bin/env python3
"""Runs the blocks of docs/exporting.md below these headings, each in an empty folder.

    recipes.py HEADING...
"""
import contextlib
import io
import logging
import os
import re
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "exporting.md"


def blocks(heading):
    section = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    found = re.findall(r"^```python\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL) if section else []
    if not found:
        sys.exit(f"recipes: {PAGE.name} has no block below {heading!r}")
    return found


def main():
    # Of what exporters tell while they work.
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    wrong = 0
    for heading in sys.argv[1:]:
        for block in blocks(heading):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                try:
                    with contextlib.redirect_stdout(io.StringIO()):
                        exec(compile(block, f"the block below {heading}", "exec"), {"__name__": "recipe"})
                except Exception:
                    wrong += 1
                    print(f"FAILED {heading}: {traceback.format_exc(limit=-3)}")
                os.chdir("/")
    print(f"recipes: {', '.join(sys.argv[1:])}: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
