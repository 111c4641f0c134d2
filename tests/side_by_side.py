"""What checks do at the same time: mostly, wait for the system's compiler."""
import os
from concurrent.futures import ThreadPoolExecutor


def executor():
    """Threads, as many as $ONNXC_JOBS says, else as there are processors."""
    return ThreadPoolExecutor(int(os.environ.get("ONNXC_JOBS", os.cpu_count())))


def side_by_side(function, items):
    """The results of function(item), in the order of the items, as they come."""
    with executor() as pool:
        yield from pool.map(function, items)
