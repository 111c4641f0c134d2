"""Allocation problems that are known to have a packing: a rectangle of time and bytes, cut into buffers.

    problems.py FOLDER

Guillotine cuts leave packings that greedy orders find; so pinwheels of five are among the cuts, which no straight cut divides, as in the problems that MiniMalloc calls challenging.
The rectangle is lower than the capacity, 1 MiB, by some per cent; greedy orders stay above it. These are such as the planner's search packs within seconds: of the largest, one in six.
"""
import random
import sys
from pathlib import Path

CAPACITY = 1 << 20
UNIT = 1 << 10


def cut(box, pieces, draw):
    """The boxes (begin, end, low, high) that `box` falls into, about `pieces` of them."""
    begin, end, low, high = box
    if pieces <= 1 or (end - begin < 4 and high - low < 4):
        return [box]
    if pieces >= 5 and end - begin >= 6 and high - low >= 6 and draw.random() < 0.6:
        t1, t2 = sorted(draw.sample(range(begin + 1, end), 2))
        b1, b2 = sorted(draw.sample(range(low + 1, high), 2))
        parts = [(begin, t2, low, b1), (t2, end, low, b2), (t1, end, b2, high), (begin, t1, b1, high), (t1, t2, b1, b2)]
    elif (draw.random() < 0.5 and end - begin >= 4) or high - low < 4:
        t = draw.randrange(begin + 1, end)
        parts = [(begin, t, low, high), (t, end, low, high)]
    else:
        b = draw.randrange(low + 1, high)
        parts = [(begin, end, low, b), (begin, end, b, high)]
    area = lambda p: (p[1] - p[0]) * (p[3] - p[2])
    whole = area(box)
    return [piece for part in parts for piece in cut(part, pieces * area(part) / whole, draw)]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for pieces, slack, seed in [(30, 0.02, 0), (30, 0.02, 3), (30, 0.02, 4), (45, 0.03, 1), (45, 0.03, 2), (45, 0.03, 3), (60, 0.04, 5), (100, 0.06, 3)]:
        draw = random.Random(seed)
        boxes = cut((0, 10 * int(pieces**0.5), 0, int(CAPACITY * (1 - slack)) // UNIT), pieces, draw)
        draw.shuffle(boxes)
        rows = [f"{i},{begin},{end},{(high - low) * UNIT}" for i, (begin, end, low, high) in enumerate(boxes)]
        (folder / f"cut_{len(boxes)}_{seed}.csv").write_text("\n".join(["id,lower,upper,size", *rows]) + "\n")


if __name__ == "__main__":
    main()
