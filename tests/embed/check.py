"""The sample's tokenizer and vectors beside Python's, written from BERT's definition: check.py ANSWERS PROGRAM FOLDER.

ANSWERS: tests/embed/answers.cpp, compiled. PROGRAM: the sample. FOLDER: for files of this test.
"""
import random
import struct
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import onnxruntime

SAMPLE = Path("samples/embed")
ANSWERS, PROGRAM, FOLDER = sys.argv[1:]
TOLERANCE = 1e-5  # of an element of a vector of length 1
CJK = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]


def fail(text):
    sys.exit(f"embed: {text}")


# ---- the definition

def is_punctuation(c):
    return c in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" or unicodedata.category(c)[0] == "P"


def words(data):
    text = "".join(
        c for c in data.decode("utf-8", "replace") if c in "\t\n\r" or c != "\ufffd" and unicodedata.category(c) not in ("Cc", "Cf", "Co")
    )
    text = "".join(f" {c} " if any(a <= ord(c) <= b for a, b in CJK) else c for c in text)
    text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    text = "".join(c.lower() for c in text)
    return "".join(f" {c} " if is_punctuation(c) else c for c in text).split()


def pieces(word, vocabulary):
    if len(word) > 100:
        return ["[UNK]"]
    found = []
    while word:
        candidates = ("##" * bool(found) + word[:end] for end in range(len(word), 0, -1))
        piece = next((candidate for candidate in candidates if candidate in vocabulary), None)
        if piece is None:
            return ["[UNK]"]
        word = word[len(piece) - 2 * bool(found) :]
        found.append(piece)
    return found


def ids(data, vocabulary):
    inner = [piece for word in words(data) for piece in pieces(word, vocabulary)]
    return [vocabulary[piece] for piece in ["[CLS]", *inner[:126], "[SEP]"]]


# ---- what is asked

def asked(strings, vocabulary, *options):
    packed = b"".join(struct.pack("<I", len(s)) + s for s in strings)
    done = subprocess.run([ANSWERS, vocabulary, *options], input=packed, capture_output=True, check=False)
    if done.returncode != 0:
        fail(f"{ANSWERS}: {done.stderr.decode()}")
    lines = done.stdout.decode().split("\n")
    found_words = [line.split("\t")[:-1] for line in lines[: 2 * len(strings) : 2]]
    found_ids = [[int(number) for number in line.split()] for line in lines[1 : 2 * len(strings) : 2]]
    vectors = [[float(x) for x in line.split()] for line in lines[2 * len(strings) : -1]]
    return found_words, found_ids, np.array(vectors)


# Strings and their words, by hand. A string of bytes is what it is, else its UTF-8.
BY_HAND = [
    ("", ""),
    ("Hello, WORLD!", "hello , world !"),
    ("H\u00e9llo re\u0301sume\u0301 \u00c5ngstr\u00f6m", "hello resume angstrom"),
    ("na\u00efve\u00a0caf\u00e9\u3000x", "naive cafe x"),
    ("\u0130stanbul \u0131 \u1e9e\u00df", "istanbul \u0131 \u00df\u00df"),
    ("\u1ec6\u1ee8 \u01d5 \u0141\u00d8\u0110", "eu u \u0142\u00f8\u0111"),
    ("ab\u4f60\u597dcd", "ab \u4f60 \u597d cd"),
    ("\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"),
    ("\u0391\u0398\u0397\u039d\u0391\u03a3 \u03ac\u03ad", "\u03b1\u03b8\u03b7\u03bd\u03b1\u03c3 \u03b1\u03b5"),
    ("\u0419\u043e\u0434 \u0401", "\u0438\u043e\u0434 \u0435"),
    ("a\u200bb\u00adc\ufeffd\x00e\x7ff\ufffdg\ue000h", "abcdefgh"),
    ("a\tb\nc\rd\u2028e\u2003f", "a b c d e f"),
    ("a\x0bb\x0cc\x85d", "abcd"),
    ("don't [SEP] $5 a_b", "don ' t [ sep ] $ 5 a _ b"),
    ("\u201cq\u201d \u2014 \u00bfx\u3002\u00a7", "\u201c q \u201d \u2014 \u00bf x \u3002 \u00a7"),
    ("\u2260\u037e", "= ;"),
    ("\U0001f468\u200d\U0001f469 ok\u2764\ufe0f", "\U0001f468\U0001f469 ok\u2764"),
    ("\ufb01 \u2122 \u00bd", "\ufb01 \u2122 \u00bd"),
    (b"a\xffb \xc3\xa9 \xc3 \xe2\x82x \xf0\x9f\x98", "ab e x"),
    (b"\xc0\x80a\xed\xa0\x80b\xe0\x80\xafc\xf4\x90\x80\x80d\xf8\x88e\xf9\x80\x80\x80f", "abcdef"),
]
LETTERS = [
    "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789",
    "\u00e9\u00c8\u00f1\u00e7\u00df\u0153\u0142\u0110\u0130\u0131\u01c4\u1e69\u1ec7\u1ef3\u212b\ufb03",
    "e\u0301o\u0308\u0327n\u0303a\u030a\u0323",
    "\u0391\u03a3\u03c3\u03c2\u03ac\u1f85\u1fbf\u0416\u0439\u0451\u0406\u04d2\u0531\u10a0\u13a0",
    "\u05d0\u05b8\ufb2a\u0627\u0622\u064e\u0660\u0915\u0958\u093f\u0902\u0e01\u0e33\u0e49\u1e9b",
    "\u3042\u30ac\u304c\u30fc\uff21\uff76\u4e2d\u6587\u3400\U00020000\uac00\ud7a3\uac01\u1100",
    "\U0001f600\U0001f469\u200d\u2764\ufe0f\U0001f3fd\U0001f1e9\u20e3\U0001d400\U00010400\U0001e900",
    "\x00\x01\x08\x1b\x7f\x80\x9f\u00ad\u200b\u200e\u2066\ufeff\ufffd\ue000\U000f0000\U000e0001",
    " \t\n\r\x0b\x0c\x1c\x85\u00a0\u1680\u2003\u2028\u2029\u202f\u3000",
    ".,;:!?'\"()[]{}<>@#$%^&*-_+=~`|/\\\u2014\u2026\u00ab\u00bf\u3001\uff01\u0964\u037e\u2260",
]
BROKEN = [b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xf9\x88\x80\x80\x80", b"\xe0\x80\x80"]


def mixed_strings(count, vocabulary):
    draw = random.Random(1)
    plain = [piece for piece in vocabulary if piece.isalpha()]
    strings = [("x" * n).encode() for n in (99, 100, 101, 300)]
    strings += [("\u00e9" * 100).encode(), ("e\u0301" * 100).encode(), ("\ud55c" * 33).encode(), ("\ud55c" * 34).encode()]
    strings += [" ".join(draw.choices(plain, k=n)).encode() for n in (125, 126, 127, 400)]
    while len(strings) < count:
        parts = []
        for _ in range(draw.randrange(1, 12)):
            if draw.random() < 0.35:
                word = draw.choice(plain)
                parts.append(draw.choice([word, word.upper(), word.title(), word.replace("e", "\u00e9"), word.replace("o", "o\u0308")]).encode())
            elif draw.random() < 0.12:
                parts.append(draw.choice(BROKEN))
            else:
                parts.append("".join(draw.choices(draw.choice(LETTERS), k=draw.randrange(1, 6))).encode())
            parts.append(draw.choice([b"", b" "]))
        strings.append(b"".join(parts))
    return strings


def random_bytes(count):
    draw = random.Random(2)
    return [bytes(draw.choice([draw.randrange(256), draw.randrange(0x80, 0x100), 0x61, 0x20]) for _ in range(draw.randrange(40))) for _ in range(count)]


def same(name, strings, found, expected):
    for string, a, b in zip(strings, found, expected, strict=True):
        if a != b:
            fail(f"{name} of {string!r}:\n  {a}\n  {b} by Python")


def check_tokens(vocabulary):
    """With the sample's vocabulary, and with one that also has every letter of the strings, since most are [UNK] in the sample's."""
    strings = [s if isinstance(s, bytes) else s.encode() for s, _ in BY_HAND]
    same("words by hand", strings, asked(strings, SAMPLE / "vocab.txt")[0], [expected.split(" ") if expected else [] for _, expected in BY_HAND])
    strings += mixed_strings(200, vocabulary) + random_bytes(1000)
    letters = sorted(set("".join(word for string in strings for word in words(string))))
    wide = {piece: i for i, piece in enumerate(dict.fromkeys([*vocabulary, *letters, *(f"##{c}" for c in letters)]))}
    (FOLDER / "wide.txt").write_text("\n".join(wide), "utf-8")
    (FOLDER / "crlf.txt").write_bytes(b"un\r\n##aff\r\n##able\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\nun")
    for file, pieces_of in ((SAMPLE / "vocab.txt", vocabulary), (FOLDER / "wide.txt", wide)):
        found_words, found_ids, _ = asked(strings, file)
        same("words", strings, found_words, [words(string) for string in strings])
        same(f"numbers by {file.name}", strings, found_ids, [ids(string, pieces_of) for string in strings])
    by_hand = [b"Unaffable, unable affable"]
    same("numbers by hand", by_hand, asked(by_hand, FOLDER / "crlf.txt")[1], [[4, 6, 1, 2, 3, 6, 2, 3, 5]])
    (FOLDER / "less.txt").write_text("[UNK]\n[SEP]\n")
    done = subprocess.run([ANSWERS, FOLDER / "less.txt"], input=b"", capture_output=True, check=False)
    if done.returncode != 1 or b"the vocabulary has no [CLS]" not in done.stderr:
        fail("a vocabulary without [CLS] is taken")
    print(f"{len(strings)} strings: the same words and numbers")


def check_characters():
    """Each character between two letters; what the header leaves out is just that."""
    if unicodedata.unidata_version != "14.0.0":
        print(f"(the tables are of Unicode 14.0, and this Python knows {unicodedata.unidata_version}: not each character is compared)")
        return
    characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and (c < 0x30000 or c % 97 == 0 or 0xE0000 <= c < 0xE0200)]
    characters = [c for c in characters if unicodedata.category(c) != "Cn"]
    strings = [f"a{c}b".encode() for c in characters]
    left_out = 0
    for c, string, found in zip(characters, strings, asked(strings, SAMPLE / "vocab.txt")[0], strict=True):
        if found != words(string):
            rest = [d for d in unicodedata.normalize("NFD", c) if unicodedata.category(d) != "Mn"]
            compatible = 0xF900 <= ord(c) <= 0xFAFF or 0x2F800 <= ord(c) <= 0x2FA1F
            if not compatible and (len(rest) == 1 or "\uac00" <= c <= "\ud7a3"):
                fail(f"U+{ord(c):04X}: {found}, not {words(string)}")
            left_out += 1
    print(f"{len(characters)} characters: the same words, but for the {left_out} that the header leaves out")


def check_vectors(vocabulary):
    strings = [line.encode() for line in (SAMPLE / "sentences.txt").read_text().splitlines() if line][::12] + mixed_strings(200, vocabulary) + [b""]
    found = asked(strings, SAMPLE / "vocab.txt", "vectors")[2]
    worst = np.abs(found - vectors_of(strings, vocabulary)).max()
    if not worst <= TOLERANCE:
        fail(f"a vector is {worst} from ONNX Runtime's")
    print(f"{len(strings)} vectors within {worst:.2g} of ONNX Runtime's")


SESSION = onnxruntime.InferenceSession(SAMPLE / "embed.onnx", providers=["CPUExecutionProvider"])


def vectors_of(strings, vocabulary):
    """One at a time, so nothing is padded here."""
    rows = []
    for string in strings:
        numbers = np.array([ids(string, vocabulary)])
        feeds = {"input_ids": numbers, "attention_mask": np.ones_like(numbers), "token_type_ids": np.zeros_like(numbers)}
        mean = SESSION.run(None, feeds)[0][0].mean(axis=0, dtype=np.float64)
        rows.append(mean / np.linalg.norm(mean))
    return np.array(rows)


def check_program(vocabulary):
    def said(code, *arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != code:
            fail(f"embed {arguments}: {done.returncode}, {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    a, b = "How long does the bread bake?", "The d\u00f3ugh rises."
    first, second = vectors_of([a.encode(), b.encode()], vocabulary)
    if abs(float(said(0, a, b)) - first @ second) > 1e-4:  # four digits are printed
        fail("another similarity")
    lines = [line for line in (SAMPLE / "sentences.txt").read_text().splitlines() if line]
    order = np.argsort(-(vectors_of([line.encode() for line in lines], vocabulary) @ first))[:5]
    found = [line.split("  ", 1)[1] for line in said(0, "--index", SAMPLE / "sentences.txt", a).splitlines()]
    if found != [lines[i] for i in order]:
        fail(f"--index finds {found}")
    (FOLDER / "two.txt").write_bytes(b"\r\n\nbread\r\n\xff\xfe\n\n")
    if [line[8:] for line in said(0, "--index", FOLDER / "two.txt", "dough").splitlines()] != ["bread", "\ufffd\ufffd"]:
        fail("--index does not give the two lines of a file")
    said(0, "", "x" * 5000)
    (FOLDER / "wrong.txt").write_text("# one that is not so\n0.5\tbread\tbread\n")
    (FOLDER / "form.txt").write_text("0.5 bread bread\n")
    for expected, *arguments in (
        ("WRONG", "--check", FOLDER / "wrong.txt"),
        ("form.txt: a line is not a number and two sentences", "--check", FOLDER / "form.txt"),
        ("none.txt: cannot be opened", "--index", FOLDER / "none.txt", "x"),
    ):
        if expected not in said(1, *arguments):
            fail(f"embed {arguments} does not say {expected}")
    for arguments in ((), ("one",), ("--other", "x"), ("a", "b", "c")):
        if "usage: embed" not in said(2, *arguments):
            fail(f"embed {arguments} does not say how it is used")
    print("the program says the same")


def main():
    global FOLDER
    FOLDER = Path(FOLDER)
    vocabulary = {piece: i for i, piece in enumerate((SAMPLE / "vocab.txt").read_text().splitlines())}
    check_tokens(vocabulary)
    check_characters()
    check_vectors(vocabulary)
    check_program(vocabulary)


if __name__ == "__main__":
    main()
