#!/usr/bin/env python3
"""Writes the tables of wordpiece.hpp from Python's own unicodedata.

    python samples/embed/unicode_tables.py
"""
import unicodedata
from pathlib import Path

HEADER = Path(__file__).parent / "wordpiece.hpp"
BEGIN, END = "// clang-format off\n", "// clang-format on\n"
ASCII_PUNCTUATION = set(range(0x21, 0x30)) | set(range(0x3A, 0x41)) | set(range(0x5B, 0x61)) | set(range(0x7B, 0x7F))


def category(c):
    return unicodedata.category(chr(c))


def is_excluded(c):
    """Surrogates, Hangul (whose decomposition is a formula) and compatibility ideographs (a thousand without any order)."""
    return 0xD800 <= c < 0xE000 or 0xAC00 <= c <= 0xD7A3 or 0xF900 <= c <= 0xFAFF and category(c) == "Lo" or 0x2F800 <= c <= 0x2FA1F


def ranges(holds):
    found = []
    for c in range(0x110000):
        if holds(c):
            if found and found[-1][1] == c - 1:
                found[-1][1] = c
            else:
                found.append([c, c])
    return [f"{{0x{first:X}, 0x{last:X}}}" for first, last in found]


def folds():
    """What is left of a character in lower case without its marks, where that is one other character."""
    to = {}
    for c in range(0x110000):
        if is_excluded(c) or category(c) == "Mn":
            continue
        left = [d for d in unicodedata.normalize("NFD", chr(c).lower()) if unicodedata.category(d) != "Mn"]
        if len(left) == 1 and left[0] != chr(c):
            to[c] = ord(left[0])
    keys, found, i = sorted(to), [], 0
    while i < len(keys):
        first, target, best = keys[i], to[keys[i]], (0, 1)
        for step, slope in ((1, 1), (2, 2), (1, 0)):
            n = 1
            while i + n < len(keys) and keys[i + n] == first + n * step and to[keys[i + n]] == target + n * slope:
                n += 1
            if n > best[0]:
                best = (n, slope)
        n, slope = best
        found.append(f"{{0x{first:X}, 0x{keys[i + n - 1]:X}, 0x{target:X}, {slope}}}")
        i += n
    return found


def table(kind, name, entries):
    lines, line = [], " "
    for entry in entries:
        if len(line) + len(entry) + 2 > 140:
            lines.append(line)
            line = " "
        line += f" {entry},"
    lines.append(line)
    return f"inline constexpr {kind} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def main():
    before, rest = HEADER.read_text().split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    tables = [
        f"// Unicode {unicodedata.unidata_version}, by unicode_tables.py.\n",
        table("Fold", "kFolds", folds()),
        table("Range", "kMarks", ranges(lambda c: category(c) == "Mn")),
        table("Range", "kPunctuation", ranges(lambda c: category(c)[0] == "P" or c in ASCII_PUNCTUATION)),
        table("Range", "kRemoved", ranges(lambda c: category(c) in ("Cc", "Cf", "Co") and chr(c) not in "\t\n\r" or c == 0xFFFD)),
        table("Range", "kSpaces", ranges(lambda c: category(c) in ("Zs", "Zl", "Zp") or chr(c) in "\t\n\r")),
    ]
    HEADER.write_text(before + BEGIN + "".join(tables) + END + after)


if __name__ == "__main__":
    main()
