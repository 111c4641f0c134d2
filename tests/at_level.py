"""Units that `onnxc run` and other commands build at a level of optimisation of the tests' choice (at_level.sh).

    subprocess.run([onnxc, "run", model], env=at_level("-O0"))
"""
import os
from pathlib import Path


def at_level(level):
    """The environment, with the compiler of units at that level."""
    wrapper = Path(__file__).resolve().with_name("at_level.sh")
    return {**os.environ, "AT_LEVEL_CXX": os.environ.get("ONNXC_CXX") or os.environ.get("CXX") or "c++", "ONNXC_CXX": str(wrapper), "AT_LEVEL": level}
