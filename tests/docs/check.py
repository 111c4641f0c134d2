"""Runs the code on the pages of the site, block after block, each page in a folder of its own; see pages.py for what a page needs and what cannot be run.

    check.py BUILD_FOLDER [--all] [--page REGEX]

Commands see `onnxc` on PATH, the repository's folders by their names, and their own /tmp. What a session shows is compared; `…` stands for anything. What is not run is
parsed: shell, C++, C, CMake, Python, Rust, JSON, TOML; and each option of onnxc must be one that it has.
"""
import argparse
import ast
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from at_level import at_level  # noqa: E402
from blocks import ROOT, blocks_of  # noqa: E402
from pages import PAGES, Page  # noqa: E402

SECONDS = 300  # for one command
SCRIPTS = "a script of the tests or benchmarks, which test.sh runs or rehearses"


class Checker:
    def __init__(self, build, whole):
        self.build, self.whole = build.resolve(), whole
        self.counts, self.reasons, self.faults = Counter(), Counter(), []
        self.options = {}

    def page(self, name):
        page = PAGES.get(name, Page())
        path = ROOT / name
        blocks = blocks_of(path)
        with tempfile.TemporaryDirectory() as folder:
            self.place(Path(folder), page)
            used = set()
            for block in blocks:
                self.where = f"{name}:{block.line}"
                used |= self.block(block, page)
            for key in set(page.wraps) | set(page.saves) | set(page.shown):
                if key not in used:
                    self.fault(f"pages.py speaks of a block that begins with {key!r}, which {name} lacks")

    def place(self, folder, page):
        self.folder = folder
        for entry in ROOT.iterdir():
            if not entry.name.startswith((".", "build")):
                (folder / entry.name).symlink_to(entry)
        (folder / "build").symlink_to(self.build)
        (folder / "tmp").mkdir()
        self.environment = (dict(os.environ) if page.own_compiler else at_level("-O0")) | {
            "PATH": f"{self.build}:{os.environ['PATH']}", "RUNTIME": str(ROOT / "runtime_stub"), "PYTHONPATH": str(ROOT / "python"), "ONNXC_EXECUTABLE": str(self.build / "onnxc"),
            "ONNXC_RUNTIME_DIR": str(ROOT / "runtime_stub"), "ONNXC": str(self.build / "onnxc"), "TMPDIR": str(folder / "tmp"), "ONNXC_CACHE": str(folder / "tmp/cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        newest = sorted(Path("/usr/include/newlib/c++").glob("*"))
        self.environment["LIBCXX"] = str(newest[-1]) if newest else ""
        for made, source in page.files.items():
            shutil.copy(ROOT / source, folder / made)
        for command in page.before:
            done = self.shell(command)
            if done.returncode != 0:
                self.fault(f"preparing fails: {command}\n{done.stdout[-2000:]}")

    def fault(self, text):
        self.faults.append(f"{self.where}: {text}" if hasattr(self, "where") else text)
        print(f"FAILED  {self.faults[-1]}", flush=True)

    def count(self, what, reason=None):
        self.counts[what] += 1
        if reason:
            self.reasons[reason] += 1

    def shell(self, text):
        text = re.sub(r"(?:(?<![\w/.])|(?<=-I))/tmp/", f"{self.folder}/tmp/", text)
        done = subprocess.run(["timeout", str(SECONDS), "bash", "-c", text], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace")
        done.stdout = done.stdout.replace(f"{self.folder}/tmp/", "/tmp/").replace(f"{self.folder}/", "")
        return done

    # ---- blocks

    def block(self, block, page):
        """Returns the keys of pages.py that it answers to."""
        for begin, reason in page.shown.items():
            if block.text.startswith(begin):
                self.count("shown", reason)
                return {begin}
        for begin, target in page.saves.items():
            if block.text.startswith(begin):
                path = self.folder / target
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text)
                self.count("run")  # by the commands that follow
                return {begin}
        if block.language == "commands":
            for command in block.commands:
                self.command(command, page)
        elif block.language == "text":
            self.count("shown", "an output, a formula or a list")
        else:
            language = getattr(self, f"check_{block.language}", None)
            if language is None:
                self.fault(f"no test knows the language {block.language}")
                return set()
            return language(block, page) or set()
        return set()

    def command(self, command, page):
        self.check_options(command.text)
        plain = re.sub(r"<([a-z_]+)>", r"\1", command.text)  # what stands for the reader's own
        if "…" not in command.text and (done := subprocess.run(["bash", "-n"], input=plain, capture_output=True, text=True)).returncode != 0:
            return self.fault(f"no shell reads this: {command.text}\n{done.stderr}")
        for pattern, reason in ({"^(tests|bench)/": SCRIPTS} | page.not_run).items():
            if re.search(pattern, command.text):
                return self.count("parsed", reason)
        for pattern, program in page.needs.items():
            if re.search(pattern, command.text) and shutil.which(program) is None:
                return self.count("parsed", f"no {program} here")
        if not self.whole and any(re.search(pattern, command.text) for pattern in page.long):
            return self.count("parsed", "left to --all")
        start = time.monotonic()
        done = self.shell(command.text)
        if os.environ.get("VERBOSE"):
            print(f"  {time.monotonic() - start:5.1f} s  {self.where}  {command.text[:110]}", flush=True)
        if done.returncode != 0:
            return self.fault(f"exit status {done.returncode} of: {command.text}\n{done.stdout[-2000:]}")
        self.count("run")
        if any(re.search(pattern, command.text) for pattern in page.varies):
            return
        if command.prints:
            self.compare(command, done.stdout)
        for line in command.tells:
            pattern = ".*".join(re.escape(part) for part in " ".join(line.split()).split("…"))
            if not any(re.fullmatch(pattern, " ".join(printed.split())) for printed in done.stdout.splitlines()):
                self.fault(f"no line of what is printed is\n{line}\nbut\n{done.stdout[:3000]}")
            self.counts["compared"] += 1

    def compare(self, command, printed):
        given = [line.rstrip() for line in printed.splitlines()]
        wanted = [line.rstrip() for line in command.prints]
        pattern = "\n".join(r"[\s\S]*" if line == "…" else ".*".join(map(re.escape, line.split("…"))) for line in wanted)
        if not re.fullmatch(pattern, "\n".join(line for line in given if line)):
            self.fault(f"what is printed differs: {command.text}\n" + "\n".join(difflib.unified_diff(wanted, given, "page", "printed", lineterm="")))
        self.counts["compared"] += 1

    def check_options(self, text):
        """The options of a command of onnxc are options that it has."""
        for part in re.split(r"&&|\||;", text.split("  #")[0]):
            try:
                words = shlex.split(part.replace("…", ""), comments=True)
            except ValueError:
                continue
            while words and "=" in words[0]:
                words.pop(0)
            if not words or Path(words[0]).name != "onnxc":
                continue
            sub = words[1] if len(words) > 1 and re.fullmatch("[a-z]+", words[1]) else ""
            if sub not in self.options:
                said = subprocess.run([self.build / "onnxc", *([sub] if sub else []), "--help"], capture_output=True, text=True).stdout
                self.options[sub] = set(re.findall(r"(?<![\w-])(--?[a-zA-Z][\w-]*)", said))
            for word in words[1:]:
                option = word.split("=")[0]
                if option.startswith("-O") or option.startswith("-I"):
                    option = option[:2]
                if re.match(r"--?[a-zA-Z]", option) and option not in self.options[sub]:
                    self.fault(f"onnxc {sub} has no option {option}: {text}")

    # ---- languages

    def wrapped(self, block, page):
        for begin, wrap in page.wraps.items():
            if block.text.startswith(begin):
                text = block.text
                for old, new in wrap.replace:
                    text = text.replace(old, new)
                return begin, wrap.before + text + wrap.after
        return None, block.text

    def compiled(self, block, page, suffix, command):
        key, text = self.wrapped(block, page)
        path = self.folder / f"block_{block.line}.{suffix}"
        path.write_text(text)
        done = self.shell(f"{command} {path.name}")
        if done.returncode != 0:
            self.fault(f"it does not compile:\n{done.stdout[:3000]}")
        self.count("parsed", "compiled, not run")
        return {key} if key else set()

    def check_cpp(self, block, page):
        return self.compiled(block, page, "cpp", "g++ -std=c++20 -fsyntax-only -w -Iruntime_stub -I.")

    def check_c(self, block, page):
        return self.compiled(block, page, "c", "gcc -std=c99 -fsyntax-only -w -Iruntime_stub -I.")

    def check_rust(self, block, page):
        if shutil.which("rustc") is None:
            return self.count("shown", "no rustc here")
        return self.compiled(block, page, "rs", "rustc --edition 2021 --emit=metadata -o tmp/block.rmeta")

    def check_cmake(self, block, page):
        """CMake reads the block, and configures a project that is made of it."""
        key, text = self.wrapped(block, page)
        source = self.folder / f"block_{block.line}"
        source.mkdir()
        (source / "app.cpp").write_text("int main() {}\n")
        for model in self.folder.glob("*.onnx"):
            (source / model.name).symlink_to(model)
        (source / "parsed.cmake").write_text(f"function(parsed)\n{text}\nendfunction()\n")
        if "cmake" in page.not_run:
            command, what = f"cmake -P {source.name}/parsed.cmake", "does not read it"
            self.count("parsed", page.not_run["cmake"])
        else:
            (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(block LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 20)\n"
                                                   f"add_executable(app app.cpp)\nfind_package(onnxc CONFIG REQUIRED)\n{text}")
            command, what = f"cmake -S {source.name} -B {source.name}/made -DCMAKE_PREFIX_PATH=$PWD/build", "does not configure it"
            self.count("parsed", "configured, not built: tests/downstream builds such projects")
        done = self.shell(command)
        if done.returncode != 0:
            self.fault(f"CMake {what}:\n{done.stdout[-3000:]}")
        return {key} if key else set()

    def check_python(self, block, page):
        key, text = self.wrapped(block, page)
        try:
            ast.parse(text)
        except SyntaxError as error:
            self.fault(f"no Python: {error}")
        if key is None and "python" in page.not_run:
            self.count("parsed", page.not_run["python"])
            return set()
        path = self.folder / f"block_{block.line}.py"
        path.write_text(text)
        done = self.shell(f"{shlex.quote(sys.executable)} {path.name}")
        if done.returncode != 0:
            self.fault(f"Python fails:\n{done.stdout[-3000:]}")
        self.count("run")
        return {key} if key else set()

    def check_json(self, block, page):
        json.loads(block.text)
        self.count("parsed", "JSON")

    def check_toml(self, block, page):
        tomllib.loads(block.text)
        self.count("parsed", "TOML")

    def check_yaml(self, block, page):
        self.count("shown", "YAML: no parser among the test's packages")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--page", default="")
    arguments = parser.parse_args()
    checker = Checker(arguments.build, arguments.all)
    names = ["README.md", "ARCHITECTURE.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "refusals")]
    for name in set(PAGES) - set(names):
        checker.fault(f"pages.py speaks of {name}, which is no page")
    for name in names:
        if re.search(arguments.page, name):
            checker.page(name)
    print("blocks and commands: " + ", ".join(f"{number} {what}" for what, number in checker.counts.most_common()) + f"; {len(checker.faults)} faults")
    for reason, number in checker.reasons.most_common():
        print(f"  {number:4}  not run: {reason}")
    sys.exit(1 if checker.faults else 0)


main()
