#!/usr/bin/env python3
"""Trains the smallest decoder of network.py on stories.txt, in plain numpy, so that what it writes is words.

    pip install numpy onnx onnxruntime
    python samples/llm/train.py

Writes merges.txt (the tokenizer), llm.onnx and expected.txt (what the program says to "Once upon", by ONNX Runtime). The seed is fixed; takes three minutes on one
core.
"""
import functools
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the order of sums does not depend on the machine's cores
import re
from collections import Counter
from pathlib import Path

import continuation
import learning
import network
import numpy as np

HERE = Path(__file__).parent
SIZE, STEPS, BATCH, LENGTH, RATE, END = network.SIZES["tiny"], 600, 16, 96, 2e-3, "<|end|>"
LEFT_OUT = 0.1  # how much of what a part adds is left out while learning
PART = re.compile(r"'(?:[stmd]|re|ve|ll)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")  # enough for stories.txt, which is ASCII

SEEN = [b for b in range(256) if 0x20 < b < 0x7F or 0xA0 < b != 0xAD]
BYTES = SEEN + [b for b in range(256) if b not in SEEN]  # in the order of their tokens
SHOWN = {b: chr(b) if b in SEEN else chr(0x100 + k - len(SEEN)) for k, b in enumerate(BYTES)}  # as GPT-2's files show them


# Words that may stand for each other: a story is told of others each time, so that the model learns how stories go on and not these by heart.
KINDS = [
    "Mia Anna Lily Rosa Nina Clara Ella Mary".split(),
    "Ben Tom Otto Finn Max Sam Leo Paul".split(),
    "cat dog bear mouse rabbit fox wolf duck frog horse pig lamb donkey".split(),
    "red blue green yellow white black brown".split(),
    "forest field garden town farm".split(),
    "apples pears plums berries carrots nuts".split(),
    "hat coat".split(),
    "big small little".split(),
]
WORD = re.compile(r"[A-Za-z]+")


def told_anew(story, random):
    other = {word: new for kind in KINDS for word, new in zip(kind, random.permutation(kind))}
    return WORD.sub(lambda word: str(other.get(word[0], word[0])), story)


def learned_merges(text, count):
    """The most frequent pair of neighbours within a part of the text becomes a token, again and again."""
    parts = {part: [bytes([b]) for b in part.encode()] for part in PART.findall(text)}
    counts, merges = Counter(PART.findall(text)), []
    while len(merges) < count:
        pairs = Counter()
        for part, tokens in parts.items():
            for pair in zip(tokens, tokens[1:]):
                pairs[pair] += counts[part]
        pair = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(pair)
        for tokens in parts.values():
            merge(tokens, pair)
    return merges


def merge(tokens, pair):
    i = 0
    while i + 1 < len(tokens):
        if (tokens[i], tokens[i + 1]) == pair:
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
        i += 1


def encoder(merges, numbers):
    """A function from a text to its tokens."""

    @functools.cache
    def ids(part):
        tokens = [bytes([b]) for b in part.encode()]
        for pair in merges:
            merge(tokens, pair)
        return [numbers[token] for token in tokens]

    return lambda text: [i for part in PART.findall(text) for i in ids(part)]


def row_of(stories, encode, end, random):
    """Tokens from somewhere in a story on; stories follow each other in any order, each behind an end."""
    row = []
    while len(row) < 3 * LENGTH:
        row += [end, *encode(told_anew(stories[random.integers(len(stories))], random))]
    at = random.integers(len(row) - LENGTH)
    return row[at : at + LENGTH + 1]


def train(stories, encode, end):
    random, weight = np.random.default_rng(3), network.random_weights(SIZE, True, 3)
    weights = {name: weight(name).copy() for name in network.weight_shapes(SIZE, True)}
    first, second = ({name: np.zeros_like(w) for name, w in weights.items()} for _ in range(2))
    for step in range(1, STEPS + 1):
        rows = np.array([row_of(stories, encode, end, random) for _ in range(BATCH)])
        loss, gradients = learning.loss_of(SIZE, weights, rows, LEFT_OUT, random)
        size = np.sqrt(sum(float((g * g).sum()) for g in gradients.values()))
        rate = RATE * min(1, step / 50) * (0.05 + 0.95 * 0.5 * (1 + np.cos(np.pi * step / STEPS)))
        for name, w in weights.items():  # Adam, of gradients that are at most 1 long
            g = gradients[name] * np.float32(min(1, 1 / size))
            first[name] += 0.1 * (g - first[name])
            second[name] += 0.01 * (g * g - second[name])
            w -= (rate * (first[name] / (1 - 0.9**step)) / (np.sqrt(second[name] / (1 - 0.99**step)) + 1e-8)).astype(np.float32)
            if w.ndim == 2:
                w *= np.float32(1 - 0.05 * rate)
        if step % 50 == 0:
            print(f"step {step}: cross entropy {loss:.3f}", flush=True)
    return weights


def main():
    stories = [story.replace("\n", " ").strip() for story in (HERE / "stories.txt").read_text().split("\n\n")]
    random = np.random.default_rng(2)
    merges = learned_merges("\n".join(told_anew(story, random) for story in stories * 10), SIZE.vocabulary - 256 - 1)
    lines = [" ".join("".join(SHOWN[b] for b in token) for token in pair) for pair in merges]
    (HERE / "merges.txt").write_text("\n".join([*lines, END]) + "\n", "utf-8")
    vocabulary = [bytes([b]) for b in BYTES] + [a + b for a, b in merges] + [b""]
    assert len(set(vocabulary)) == SIZE.vocabulary, "two merges make the same token"
    numbers, end = {token: i for i, token in enumerate(vocabulary)}, SIZE.vocabulary - 1
    encode = encoder(merges, numbers)
    print(f"{len(stories)} stories, {sum(len(encode(story)) for story in stories)} tokens")
    weights = train(stories, encode, end)
    network.write(HERE / "llm.onnx", SIZE, weights.__getitem__, half=True, external=False)

    text = "Once upon"
    said = continuation.continued(HERE / "llm.onnx", encode(text), end)
    (HERE / "expected.txt").write_bytes(text.encode() + b"".join(vocabulary[i] for i in said) + b"\n")
    print((HERE / "expected.txt").read_text())


if __name__ == "__main__":
    main()
