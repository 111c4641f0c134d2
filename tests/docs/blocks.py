"""The blocks of a page: what is code, of which language, and what of it is a command.

A fenced block has the language that its fence names. An indented block is a session where a line begins with `$ `: these lines are commands, and what
follows each is what it prints. Otherwise it is a list of commands where its first word is a program, and a picture of something (an output, a formula) where not.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {"onnxc", "cmake", "ninja", "pip", "python", "nvcc", "g++", "cc", "clang++-19", "aarch64-linux-gnu-g++", "x86_64-w64-mingw32-g++-posix", "arm-none-eabi-g++", "mkdir", "cp",
            "sudo"}


@dataclass
class Command:
    text: str
    prints: list[str] = field(default_factory=list)  # all of it, in a session
    tells: list[str] = field(default_factory=list)  # lines of it, which stand as comments below a command of a list


@dataclass
class Block:
    line: int
    language: str  # "commands", "text", or a fence's
    text: str
    commands: list[Command] = field(default_factory=list)


def blocks_of(path):
    lines = path.read_text().splitlines()
    found, k = [], 0
    while k < len(lines):
        fence = re.match(r"( *)```(\w*)", lines[k])
        if fence:
            end = next(j for j in range(k + 1, len(lines)) if lines[j].strip() == "```")
            body = [line.removeprefix(fence[1]) for line in lines[k + 1 : end]]
            found.append(Block(k + 2, fence[2] or "text", "\n".join(body) + "\n"))
            k = end + 1
        elif re.match(r" {4}\S", lines[k]) and (k == 0 or not lines[k - 1].strip()) and not in_list(lines, k):
            end = k
            while end < len(lines) and (lines[end].startswith("    ") or (not lines[end].strip() and end + 1 < len(lines) and lines[end + 1].startswith("    "))):
                end += 1
            found.append(indented(k + 1, [line[4:] for line in lines[k:end]]))
            k = end
        else:
            k += 1
    return found


def in_list(lines, k):
    """Whether this indented line goes on with an item of a list."""
    before = [line for line in lines[:k] if line.strip() and not line.startswith("  ")]
    return bool(before) and re.match(r"(\d+\.|[-*]) ", before[-1]) is not None


def indented(line, body):
    text = "\n".join(body) + "\n"
    whole = re.sub(r"\\\n\s*", "", text).splitlines()
    if any(part.startswith("$ ") for part in whole):
        commands = []
        for part in whole:
            if part.startswith("$ "):
                commands.append(Command(part[2:]))
            elif part.strip():
                commands[-1].prints.append(part)
        return Block(line, "commands", text, commands)
    if is_command(whole[0]):
        commands = []
        for part in whole:
            if part.startswith("# "):
                commands[-1].tells.append(part[2:])
            elif part.strip():
                commands.append(Command(part))
        return Block(line, "commands", text, commands)
    return Block(line, "text", text)


def is_command(line):
    word = line.split()[0]
    return word in PROGRAMS or (("/" in word) and (ROOT / word).exists()) or word == "build/onnxc"
