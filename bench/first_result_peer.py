"""One run of a peer in a process of its own: first_result_peer.py PEER MODEL THREADS FEEDS

FEEDS is a pickled {name: array}. Prints JSON: `at`, the monotonic clock at the first result; `imported_kib`, the resident set when the peer's module
is imported; `loaded_kib`, when the model is loaded; `peak_kib`; `library_bytes`, the size of the peer's shared libraries that this process has mapped.
"""
import importlib
import json
import os
import pickle
import sys
import time
from pathlib import Path

import engines


def status_kib(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field))


def mapped_bytes(module):
    """Of all files of the module's folder and the libraries beside it that are mapped here."""
    folder = Path(module.__file__).resolve().parent
    with open("/proc/self/maps") as file:
        mapped = {line.split(maxsplit=5)[5].strip() for line in file if len(line.split(maxsplit=5)) == 6}
    return sum(os.path.getsize(path) for path in mapped if path.startswith((f"{folder}/", f"{folder}.libs/")))


def main():
    name, model, threads, feeds_file = sys.argv[1:]
    engine = engines.PEERS[name]
    module = importlib.import_module(engine.module)
    imported = status_kib("VmRSS:")
    feeds = pickle.loads(Path(feeds_file).read_bytes())
    session = engine.load(Path(model), feeds, int(threads))
    loaded = status_kib("VmRSS:")
    result = engine.first_run(session, feeds)
    at = time.monotonic()
    assert result
    memory = {"imported_kib": imported, "loaded_kib": loaded, "peak_kib": status_kib("VmHWM:")}
    print(json.dumps({"at": at, **memory, "library_bytes": mapped_bytes(module)}))


if __name__ == "__main__":
    main()
