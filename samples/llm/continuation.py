"""What the program says, in Python: a model in ONNX Runtime, and the program's way to draw tokens."""
import numpy as np
import onnxruntime

DEFAULTS = {"tokens": 200, "temperature": 0.8, "top_k": 40, "top_p": 0.95, "penalty": 1.0, "seed": 1}


def random_numbers(seed):
    """SplitMix64, as numbers in [0, 1)."""
    mask = 2**64 - 1
    while True:
        seed = seed + 0x9E3779B97F4A7C15 & mask
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        yield ((z ^ z >> 31) >> 11) * 2.0**-53


def drawn(logits, context, numbers, temperature, top_k, top_p, penalty):
    logits = logits.astype(np.float64)
    there = np.unique(np.array(context, np.int64))
    logits[there] = np.where(logits[there] > 0, logits[there] / penalty, logits[there] * penalty)
    order = np.lexsort((np.arange(len(logits)), -logits))
    if temperature == 0:
        return int(order[0])
    order = order[: top_k or None]
    shares = np.exp((logits[order] - logits[order[0]]) / temperature)
    sums = np.cumsum(shares)
    kept = int(np.searchsorted(sums, top_p * sums[-1])) + 1
    sums = sums[:kept]
    return int(order[min(int(np.searchsorted(sums, next(numbers) * sums[-1], side="right")), len(sums) - 1)])


class Runtime:
    """A model of network.py with its caches."""

    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.inputs, self.outputs = ([v.name for v in values] for values in (self.session.get_inputs(), self.session.get_outputs()))
        self.kept = {v.name: np.zeros((1, v.shape[1], 0, v.shape[3]), np.float32) for v in self.session.get_inputs() if v.name.startswith("past")}
        self.length = 0

    def append(self, ids):
        """The logits of each position, [tokens, vocabulary]."""
        before, self.length = self.length, self.length + len(ids)
        feeds = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, self.length), np.int64), "position_ids": np.arange(before, self.length)[None]}
        results = dict(zip(self.outputs, self.session.run(None, {name: value for name, value in {**feeds, **self.kept}.items() if name in self.inputs})))
        self.kept = {name: results[name.replace("past_key_values", "present")] for name in self.kept}
        return results["logits"][0]


def continued(path, ids, end, **options):
    """The tokens behind `ids`, without the one that ends the text."""
    options = {**DEFAULTS, **options}
    runtime, numbers, ids, first = Runtime(path), random_numbers(options.pop("seed")), list(ids), len(ids)
    logits = runtime.append(ids)[-1]
    for _ in range(options.pop("tokens")):
        ids.append(drawn(logits, ids, numbers, **options))
        if ids[-1] == end:
            return ids[first:-1]
        logits = runtime.append(ids[-1:])[-1]
    return ids[first:]
