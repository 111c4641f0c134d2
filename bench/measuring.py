"""Measuring engines against each other: blocks of calls that take turns, so that changes of the clock and other tenants hit all alike."""
import os
import statistics
import time

BLOCK_SECONDS = 0.02
FEWEST_BLOCKS = 7
REST_SECONDS = 0.12  # longer than idle threads spin: ONNX Runtime's took 40 ms of a processor after each block on Zen 5


def block(engine, calls):
    begin = time.perf_counter()
    engine.calls(calls)
    return time.perf_counter() - begin


def calls_for_block(engine):
    block(engine, 2)
    calls = 1
    while (took := block(engine, calls)) < BLOCK_SECONDS:
        calls = max(2 * calls, int(1.1 * BLOCK_SECONDS / max(took, 1e-7) * calls))
    return calls


def measure(engines, seconds, threads=1):
    """{name: {median, best, p90, blocks, calls_a_block}} in seconds a call; `seconds` of measuring for each engine.

    With several threads each block comes after a rest, in which the threads of the engine before stop spinning, and a call that is not counted.
    """
    calls = [calls_for_block(engine) for engine in engines]
    latencies = [[] for _ in engines]
    spent, turn = 0.0, 0
    while spent < seconds * len(engines) or turn < FEWEST_BLOCKS:
        order = range(len(engines)) if turn % 2 == 0 else reversed(range(len(engines)))
        for k in order:
            if threads > 1:
                time.sleep(REST_SECONDS)
                engines[k].calls(1)
            took = block(engines[k], calls[k])
            latencies[k].append(took / calls[k])
            spent += took
        turn += 1
    return {
        engine.name: {
            "median": statistics.median(samples),
            "best": min(samples),
            "p90": sorted(samples)[round(0.9 * (len(samples) - 1))],
            "blocks": len(samples),
            "calls_a_block": n,
        }
        for engine, samples, n in zip(engines, latencies, calls)
    }


class Disturbance:
    """What else the processors of this machine did while it lived, from /proc/stat."""

    def __init__(self):
        self._start = self._read()

    @staticmethod
    def _read():
        """Seconds of all processors together: (all, stolen, busy), and those that this process and its ended children took."""
        own = sum(os.times()[:4])
        try:
            with open("/proc/stat") as file:
                ticks = [int(word) for word in file.readline().split()[1:9]]  # user nice system idle iowait irq softirq steal
        except OSError:
            return None
        seconds = [count / os.sysconf("SC_CLK_TCK") for count in ticks]
        idle, stolen = seconds[3] + seconds[4], seconds[7]
        return sum(seconds), stolen, sum(seconds) - idle - stolen, own

    def shares(self):
        """{"stolen": by other machines on the same host, "others": by other programs here}, of all; empty where the system does not tell."""
        now = self._read()
        if now is None or self._start is None:
            return {}
        total, stolen, busy, own = (after - before for after, before in zip(now, self._start))
        return {"stolen": stolen / max(total, 1e-9), "others": max(0.0, busy - own) / max(total, 1e-9)}
