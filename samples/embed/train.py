#!/usr/bin/env python3
"""Trains a small sentence encoder: a BERT of two layers that puts sentences on one subject near each other, in plain numpy.

    pip install numpy onnx onnxruntime
    python samples/embed/train.py

Reads sentences.txt and words.txt, whose subjects are parted by empty lines. Writes vocab.txt, embed.onnx and expected.txt (pairs of sentences that
training did not see, and their similarity by ONNX Runtime). The seed is fixed; takes a minute on one core.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the order of sums does not depend on the machine's cores
import re
from collections import Counter
from pathlib import Path

import network
import numpy as np
import onnxruntime

HERE = Path(__file__).parent
PIECES, STEPS, LINES, TEMPERATURE = 2000, 1000, 3, 0.1
LEFT_OUT = 0.3  # how many of a line's pieces a view of it lacks
OWN = 0.6  # how much of the attraction goes to the same sentence with other words left out; the rest goes to others on the subject
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PAIRS = [(0, 1), (2, 3), (0, 4), (1, 5), (6, 7), (8, 20)]  # of lines that are held out, three a subject


def words(line):
    return re.findall(r"[a-z0-9]+|[^a-z0-9\s]", line.lower())  # enough for sentences.txt, which is ASCII


def learned_vocabulary(lines):
    """Single characters, then the most frequent pair of neighbouring pieces becomes a piece, again and again."""
    counts = Counter(word for line in lines for word in words(line))
    split = {word: [word[0]] + [f"##{c}" for c in word[1:]] for word in counts}
    characters = [chr(c) for c in range(0x21, 0x7F) if not chr(c).isupper()]
    vocabulary = SPECIAL + characters + [f"##{c}" for c in characters if c.isalnum()]
    while len(vocabulary) < PIECES:
        pairs = Counter()
        for word, pieces in split.items():
            for pair in zip(pieces, pieces[1:]):
                pairs[pair] += counts[word]
        if not pairs:
            break
        a, b = min(pairs, key=lambda pair: (-pairs[pair], pair))
        joined = a + b[2:]
        vocabulary.append(joined)
        for word, pieces in split.items():
            i = 0
            while i + 1 < len(pieces):
                if pieces[i] == a and pieces[i + 1] == b:
                    pieces[i : i + 2] = [joined]
                i += 1
    return vocabulary


def encode(line, numbers):
    """The numbers of a line's pieces, the longest from each word's start."""
    ids = []
    for word in words(line):
        at = 0
        while at < len(word):
            end = next(e for e in range(len(word), at, -1) if "##" * (at > 0) + word[at:e] in numbers)
            ids.append(numbers["##" * (at > 0) + word[at:end]])
            at = end
    return ids


def padded(rows):
    """Rows of numbers between [CLS] and [SEP], padded to the longest, and the mask."""
    ids = np.full((len(rows), max(map(len, rows)) + 2), SPECIAL.index("[PAD]"))
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row) + 2] = [SPECIAL.index("[CLS]"), *row, SPECIAL.index("[SEP]")]
        mask[i, : len(row) + 2] = 1
    return ids, mask


def view(row, random):
    """The row without some of its pieces."""
    kept = [piece for piece in row if random.random() > LEFT_OUT]
    return kept or row


def train(subjects, pieces):
    """subjects: for each subject the rows of its lines. In a batch some lines of each are there twice, with other pieces left out."""
    random = np.random.default_rng(5)
    params = network.made_params(pieces, random)
    first, second = ({name: np.zeros_like(p) for name, p in params.items()} for _ in range(2))
    n = len(subjects) * LINES * 2
    line, subject = np.arange(n) // 2, np.arange(n) // (2 * LINES)
    same_line, same_subject = (x[:, None] == x for x in (line, subject))
    target = OWN * (same_line & ~np.eye(n, dtype=bool)) + (1 - OWN) / (2 * LINES - 2) * (same_subject & ~same_line)
    for step in range(1, STEPS + 1):
        rows = []
        for lines in subjects:
            for i in random.choice(len(lines), LINES, replace=False):
                rows += [view(lines[i], random), view(lines[i], random)]
        vectors, back = network.sentence_vectors(params, *padded(rows))
        similarity = vectors @ vectors.T / TEMPERATURE - 1e9 * np.eye(n)
        e = np.exp(similarity - similarity.max(axis=1, keepdims=True))
        share = e / e.sum(axis=1, keepdims=True)
        d = (share - target) / (n * TEMPERATURE)
        gradients = back(((d + d.T) @ vectors).astype(np.float32))
        rate = 2e-3 * min(1, step / 100) * 0.5 * (1 + np.cos(np.pi * step / STEPS))
        for name, p in params.items():  # Adam
            first[name] += 0.1 * (gradients[name] - first[name])
            second[name] += 0.001 * (gradients[name] ** 2 - second[name])
            p -= (rate * (first[name] / (1 - 0.9**step)) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)).astype(np.float32)
        if step % 200 == 0:
            loss = -(target * np.log(share + 1e-30)).sum() / n
            print(f"step {step}: cross entropy {loss:.3f}", flush=True)
    return params


def main():
    subjects, words_of_subjects = (
        [block.splitlines() for block in (HERE / name).read_text().split("\n\n")] for name in ("sentences.txt", "words.txt")
    )
    held_out = [line for lines in subjects for line in lines[9::10]]
    seen = [[line for line in lines if line not in held_out] for lines in subjects]
    taught = [lines + more for lines, more in zip(seen, words_of_subjects)]
    vocabulary = learned_vocabulary([line for lines in taught for line in lines])
    (HERE / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    numbers = {piece: i for i, piece in enumerate(vocabulary)}
    params = train([[encode(line, numbers) for line in lines] for lines in taught], len(vocabulary))
    network.export(params, HERE / "embed.onnx")

    session = onnxruntime.InferenceSession(HERE / "embed.onnx", providers=["CPUExecutionProvider"])

    def vectors(lines):
        ids, mask = padded([encode(line, numbers) for line in lines])
        hidden = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})[0]
        mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return mean / np.sqrt((mean * mean).sum(axis=1, keepdims=True))

    similarity = vectors(held_out) @ vectors([line for lines in seen for line in lines]).T
    nearest = similarity.argmax(axis=1) // len(seen[0])
    right = nearest == np.arange(len(held_out)) // 3
    print(f"{len(vocabulary)} pieces; of {len(right)} sentences not seen in training, {right.sum()} lie nearest to one on their subject")
    for line, where in zip(np.array(held_out)[~right], nearest[~right]):
        print(f"  not so: {line} ({seen[where][0]})")

    lines = ["# similarity by ONNX Runtime, and two sentences that training did not see; parted by tabs"]
    for a, b in PAIRS:
        first, second = vectors([held_out[a], held_out[b]])
        lines.append(f"{first @ second:.7f}\t{held_out[a]}\t{held_out[b]}")
        print(lines[-1])
    (HERE / "expected.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
