"""The sample's tokenizer, sampler and programs beside Python and ONNX Runtime: check.py FOLDER.

FOLDER has what run.sh compiled: answers (answers.cpp), llm (the sample), and programs of models that models.py made beside them.
"""
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

SAMPLE, FOLDER = Path("samples/llm"), Path(sys.argv[1])
sys.path.insert(0, str(SAMPLE))
import continuation  # noqa: E402
import models  # noqa: E402

MERGES = SAMPLE / "merges.txt"


def fail(text):
    sys.exit(f"llm: {text}")


def ran(*command, code=0, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False, **options)
    if done.returncode != code:
        fail(f"{command}: {done.returncode}, {done.stdout[-500:]}{done.stderr[-500:]}")
    return done


# ---- the tokenizer: by the definition, one merge after the other

PART = re.compile(rb"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z\x80-\xff]+| ?[0-9]+| ?[^\s0-9A-Za-z\x80-\xff]+|\s+(?!\S)|\s+")


def bytes_to_shown():
    """GPT-2's, as its code has it."""
    own = [*range(ord("!"), ord("~") + 1), *range(ord("\u00a1"), ord("\u00ac") + 1), *range(ord("\u00ae"), ord("\u00ff") + 1)]
    shown = {b: chr(b) for b in own}
    for b in range(256):
        shown.setdefault(b, chr(256 + len(shown) - len(own)))
    return shown


SHOWN = bytes_to_shown()


def vocabulary_of(lines):
    ids = {shown: i for i, shown in enumerate(SHOWN.values())}
    ranks = {}
    for line in lines:
        if " " in line:
            left, right = line.split(" ")
            ranks.setdefault((left, right), len(ranks))
            ids.setdefault(left + right, len(ids))
        else:
            ids[None, line] = len(ids)
    return ids, ranks


def encoded(data, ids, ranks):
    found = []
    for part in PART.findall(data):
        tokens = [SHOWN[b] for b in part]
        while True:
            pairs = [(ranks[pair], i) for i, pair in enumerate(zip(tokens, tokens[1:])) if pair in ranks]
            if not pairs:
                break
            _, i = min(pairs)
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
        found += [ids[token] for token in tokens]
    return found


def strings(count):
    draw = random.Random(1)
    texts = (SAMPLE / "stories.txt").read_text()
    made = [b"", b" ", b"  a", b"\n\n a\n", b"'s", b"it's they'll we'd I'm 'tis '' don't", b"<|end|>", b"a" * 5000, b" " * 3000, b"the" * 1000, b"\xff\xfe\x00\x80"]
    made += [s.encode() for s in ("na\u00efve caf\u00e9", "\u4f60\u597d\uff0c12", "\U0001f600\u200d x", "3.14 and 1,000,000", "a\tb\x0bc\x0cd\re\x1cf\x85g\u00a0h")]
    while len(made) < count:
        parts = []
        for _ in range(draw.randrange(1, 8)):
            at = draw.randrange(len(texts))
            parts.append(draw.choice([
                texts[at : at + draw.randrange(1, 60)].encode(),
                texts[at : at + 10].upper().encode(),
                bytes(draw.randrange(256) for _ in range(draw.randrange(1, 6))),
                bytes(draw.choices(b"  \n\t'd's,.;!?0123456789", k=draw.randrange(1, 8))),
            ]))
        made.append(b"".join(parts))
    return made


# Pairs that meet in several ways: the same token twice, a merge that a later one would have had first, a rank that makes an earlier one possible.
CROSSED = ["a b", "b c", "ab c", "a a", "aa a", "aa aa", "c d", "a bc", "bc d", "x yz", "y z", "x yz", "\u0120 a", "\u0120a b"]


def check_tokens():
    texts = strings(200)
    packed = b"".join(struct.pack("<I", len(s)) + s for s in texts)
    crossed = FOLDER / "crossed.txt"
    known = [line for line in CROSSED if line != "x yz"]
    crossed.write_text("#version: 0.2\r\n" + "\r\n".join([*known, "x yz", "", "<|one|>", "\u010a \u010a", "<|two|>"]), "utf-8")
    letters = random.Random(2)
    ours = ["".join(letters.choices("aabbccdxyz  ", k=letters.randrange(1, 40))).encode() for _ in range(2000)]
    for path, lines, which, data in ((MERGES, MERGES.read_text("utf-8").splitlines(), texts, packed),
                                     (crossed, [*known, "x yz", "<|one|>", "\u010a \u010a", "<|two|>"], ours, b"".join(struct.pack("<I", len(s)) + s for s in ours))):
        ids, ranks = vocabulary_of(lines)
        found = ran(FOLDER / "answers", "encode", path, input=data).stdout.decode().split("\n")[:-1]
        for text, line in zip(which, found, strict=True):
            if [int(number) for number in line.split()] != encoded(text, ids, ranks):
                fail(f"tokens of {text!r}: {line}\n  {encoded(text, ids, ranks)} by Python")
    # By hand: 'abc' comes from the third merge; two line breaks from the last, behind eleven others that make new tokens, xyz and <|one|>.
    by_hand = b"abc\n\n"
    found = ran(FOLDER / "answers", "encode", crossed, input=struct.pack("<I", len(by_hand)) + by_hand).stdout.split()
    if [int(number) for number in found] != [258, 269]:
        fail(f"tokens by hand: {found}")
    for text, words in (("a bq\n", b"line 1 of the merges"), ("a b\nab \n", b"line 2"), ("a b\n\u4e2d a\n", b"line 2"), ("a b c\n", b"line 1"), ("a \u01ff\n", b"line 1")):
        (FOLDER / "wrong.txt").write_text(text, "utf-8")
        if words not in ran(FOLDER / "answers", "encode", FOLDER / "wrong.txt", code=1, input=b"").stderr:
            fail(f"{text!r} is taken as merges")
    print(f"{len(texts) + len(ours)} strings: the same tokens")


# ---- the sampler

def drawn(logits, count, **how):
    how = {**{k: continuation.DEFAULTS[k] for k in ("temperature", "top_k", "top_p", "penalty", "seed")}, **how}
    done = ran(FOLDER / "answers", "draw", count, *how.values(), input=np.array(logits, np.float32).tobytes())
    return [int(number) for number in done.stdout.split()], how


def check_sampler():
    random_logits = np.random.default_rng(5).standard_normal(500).astype(np.float32) * 3
    for how in ({}, {"temperature": 0}, {"temperature": 2.5, "top_k": 0}, {"top_k": 1}, {"top_p": 0.3, "top_k": 0}, {"penalty": 1.3, "seed": 2**64 - 1}, {"temperature": 0, "penalty": 1.5},
                {"temperature": 1e-9, "seed": 7}):
        found, how = drawn(random_logits, 300, **how)
        numbers, expected = continuation.random_numbers(how.pop("seed")), []
        for _ in range(300):
            expected.append(continuation.drawn(random_logits, expected, numbers, **how))
        if found != expected:
            fail(f"drawn {how}: {found}, not {expected}")
    # By hand: a half, three tenths and a fifth; without the last at 0.8 of the probability, and alone the first at 0.5.
    shares = np.log([0.2, 0.5, 0.3])
    for top_p, expected in ((1, [0.2, 0.5, 0.3]), (0.79, [0, 5 / 8, 3 / 8]), (0.49, [0, 1, 0])):
        counts = np.bincount(drawn(shares, 20000, temperature=1, top_k=0, top_p=top_p)[0], minlength=3) / 20000
        if np.abs(counts - expected).max() > 4 * (0.25 / 20000) ** 0.5:
            fail(f"{counts} were drawn of {expected}")
    # By hand: equal ones in order; a penalty makes 2 smaller and -2 larger in size; what is no number is never taken.
    for logits, how, expected in (([1, 3, 3], {"temperature": 0}, [1, 1]), ([2, 1.5, -2], {"temperature": 0, "penalty": 2}, [0, 1]), ([-1, -1.5], {"temperature": 0, "penalty": 2}, [0, 1]),
                                  ([np.nan, 1, np.inf, -np.inf], {}, [2, 2]), ([np.nan, -np.inf, np.nan], {}, [1, 1]), ([3e38, -3e38], {"temperature": 1e-300}, [0, 0])):
        if drawn(logits, 2, **how)[0] != expected:
            fail(f"of {logits} {how} come {drawn(logits, 2, **how)[0]}")
    ran(FOLDER / "answers", "draw", 1, 1, 0, 1, 1, 1, code=1, input=np.array([np.nan], np.float32).tobytes())
    print("the same tokens are drawn")


# ---- programs

def check_forms():
    """The two forms have the same logits, in ONNX Runtime; with 4 bits the primitives get the weights that the bits stand for."""
    prompts = [[5, 17, 40, 2, 9], [3], [11, 12]]
    for bits in (0, 4):
        expected = None
        for form in ("primitives", "packed", "separate"):
            runtime = continuation.Runtime(models.written(FOLDER, form, bits))
            logits = np.concatenate([runtime.append(ids) for ids in prompts])
            if expected is None:
                expected = logits
            worst = np.abs(logits - expected).max()
            if worst > 2e-5 * np.abs(expected).max():
                fail(f"{form} with {bits} bits is {worst} from the primitives")
    print("the forms have the same logits")


def pieces(ids, names):
    return b"".join(names[i] if i < len(names) else b"<%d>" % i for i in ids)


def names_of_tokens():
    ids, _ = vocabulary_of(MERGES.read_text("utf-8").splitlines())
    back = {shown: b for b, shown in SHOWN.items()}
    return [bytes(back[c] for c in token) if isinstance(token, str) else token[1].encode() for token in ids]


def check_programs():
    ids, ranks = vocabulary_of(MERGES.read_text("utf-8").splitlines())
    names, end = names_of_tokens(), ids[None, "<|end|>"]
    story = " ".join((SAMPLE / "stories.txt").read_text().split("\n")[:40]).encode()
    long = story[:700]  # more tokens than two runs take
    cases = [("llm", SAMPLE / "llm.onnx", text, {"temperature": 0}) for text in (b"Once upon", b"The cat", b"\xff q", long)]
    cases += [("llm", SAMPLE / "llm.onnx", b"The dog", how) for how in ({"seed": 5}, {"temperature": 1.5, "top_k": 0, "top_p": 1, "tokens": 20}, {"penalty": 1.2, "seed": 9})]
    for name, form, bits, _ in models.PROGRAMS:
        cases += [(name, models.written(FOLDER, form, bits), text, {"temperature": 0, "tokens": 60}) for text in (b"Once upon", long)]
    for name, model, text, how in cases:
        prompt = encoded(text, ids, ranks)
        expected = text + pieces(continuation.continued(model, prompt, end, **how), names) + b"\n"
        options = [part for key, value in how.items() for part in (f"--{key.replace('_', '-')}", value)]
        command = [FOLDER / name, *options, "--context", 1000, *(["--threads", 2] if name == "threads" else []), text]
        done = subprocess.run([part if isinstance(part, bytes) else str(part) for part in command], capture_output=True, check=False)
        if done.returncode != 0 or done.stdout != expected:
            fail(f"{name} {options} says to {text!r}\n  {done.stdout!r} {done.stderr!r}, not\n  {expected!r}")
    print(f"{len(cases)} texts: the same tokens as by ONNX Runtime")


def check_words():
    """What the program says where something is wrong."""
    program = FOLDER / "llm"
    if ran(program, "Once upon").stdout != (SAMPLE / "expected.txt").read_bytes():
        fail("another text than that of expected.txt")
    full = ran(program, "--context", "12", "--tokens", "50", "Once upon")
    if b"the context is full" not in full.stderr or len(full.stdout) < len("Once upon") + 10:
        fail(f"--context 12: {full}")
    exact = ran(program, "--context", "12", "--tokens", "11", "Once upon")  # the last token is not run, so it needs no room
    if exact.stderr or exact.stdout != full.stdout:
        fail(f"a context of just the size: {exact}")
    if ran(program, "--tokens", "0", "Once upon").stdout != b"Once upon\n":
        fail("no tokens are not none")
    for code, words, *arguments in (
        (1, b"tokens are too many: there is room for 5", "--context", "5", "word " * 40),
        (2, b"there is no text", "--tokens", "5"),
        (2, b"the text is empty", ""),
        (2, b"there are two texts", "a", "b"),
        (2, b"--tokens got 'x'", "--tokens", "x", "a"),
        (2, b"--top-p got '1.5', which is no number from 0", "--top-p", "1.5", "a"),
        (2, b"--temperature got 'nan'", "--temperature", "nan", "a"),
        (2, b"--seed needs a number", "--seed"),
        (2, b"there is no option --other", "--other"),
        (0, b"usage: llm", "--help"),
    ):
        done = ran(program, *arguments, code=code)
        if words not in done.stdout + done.stderr:
            fail(f"llm {arguments} says {done}")
    if not re.fullmatch(rb"prefill: 128 tokens in .* tokens/s\ndecode:  7 tokens in .* tokens/s\n", ran(program, "--bench", "--tokens", 7).stdout):
        fail("--bench has another form")
    (FOLDER / "short").write_bytes(b"x")
    for file, words in (("none", b"No such file"), (FOLDER / "short", b"is it of another model")):
        if words not in ran(FOLDER / "threads", "--weights", file, "a", code=1).stderr:
            fail(f"weights in {file} are taken")
    print("the program says what is wrong")


if __name__ == "__main__":
    check_tokens()
    check_sampler()
    check_forms()
    check_programs()
    check_words()
