"""Changes one thing at a time in copies of the code, and asks whether a test notices.

A mutant is tried against the tests in the order of what they take, until one fails, ends, or does not end. One that does not compile is none, and
another is drawn. Files are drawn in proportion to their code, then a kind of change, then a place; the same seed draws the same ones in the same
sources. excluded.txt has code of which a change cannot show, equivalent.txt single changes that change nothing.

Results go to build/mutation/AREA-SEED.jsonl, and another run with the same seed goes on from there. Exit code: 1 if fewer were noticed than --least.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import random
import re
import sys
from dataclasses import dataclass

from kernels import Kernels
from mutants import sites
from passes import Passes
from workplace import PLACE, ROOT, now

HERE = ROOT / "tests/mutation"
AREAS = {area.area: area for area in (Kernels, Passes)}
VERDICTS = ("noticed", "survived", "unreached", "equivalent")


@dataclass
class Mutant:
    file: str
    line: int
    kind: str
    before: str
    after: str
    of_line: str  # the whole line, without the blanks around it
    nth: int  # of the places in the line where the same could be changed, from 1
    text: str  # of the changed file

    def key(self):
        return key_of(vars(self))


def key_of(mutant):
    """What names it in equivalent.txt, as long as its line stays as it is."""
    nth = f" ({mutant['nth']})" if mutant["nth"] > 1 else ""
    return f"{mutant['file']}: {mutant['of_line']} | {flat(mutant['before'])} -> {flat(mutant['after'])}{nth}"


def flat(text):
    return " ".join(text.split())


def rules():
    """Pairs of a pattern of files and a regular expression of lines, None for all lines."""
    found = []
    for line in (HERE / "excluded.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            what = line[:line.rindex(": ")]
            pattern, _, expression = what.partition(" ~ ")
            found.append((pattern, re.compile(expression) if expression else None))
    return found


def equivalents():
    return {line for line in (HERE / "equivalent.txt").read_text().splitlines() if line and not line.startswith(("#", " "))}


def is_excluded(found, name, line):
    return any(fnmatch.fnmatch(name, pattern) and (expression is None or expression.search(line)) for pattern, expression in found)


class Drawing:
    """Draws mutants of an area."""

    def __init__(self, area, seed):
        self.random = random.Random(f"{area.area} {seed}")
        self.excluded = rules()
        paths = sorted({path for pattern in area.patterns for path in ROOT.glob(pattern)})
        self.files = {}
        for path in paths:
            name = str(path.relative_to(ROOT))
            text = path.read_text()
            free = [site for site in sites(text) if not is_excluded(self.excluded, name, line_at(text, site.begin))]
            if free:
                self.files[name] = (text, free)
        self.drawn = set()

    def next(self):
        while True:
            name = self.random.choices(list(self.files), [len(free) for _, free in self.files.values()])[0]
            text, free = self.files[name]
            kind = self.random.choice(sorted({site.kind for site in free}))
            site = self.random.choice([s for s in free if s.kind == kind])
            if (name, site) not in self.drawn:
                self.drawn.add((name, site))
                return made(name, text, site)


def line_at(text, offset):
    return text[text.rfind("\n", 0, offset) + 1:text.find("\n", offset)]


def made(name, text, site):
    begin = text.rfind("\n", 0, site.begin) + 1
    before = text[site.begin:site.end]
    nth = sum(begin <= s.begin <= site.begin and (text[s.begin:s.end], s.after) == (before, site.after) for s in sites(text))
    return Mutant(name, text.count("\n", 0, site.begin) + 1, site.kind, before, site.after, line_at(text, site.begin).strip(), nth, text[:site.begin] + site.after + text[site.end:])


def described(result):
    nth = f" at place {result['nth']}" if result["nth"] > 1 else ""
    return f"{result['file']}:{result['line']}  {result['of_line']}\n          {flat(result['before'])}  ->  {flat(result['after']) or '(nothing)'}{nth}"


def again(results, number):
    """The mutant of a result, in today's file."""
    result = next(r for r in results if r["number"] == number)
    text = (ROOT / result["file"]).read_text()
    places = [made(result["file"], text, s) for s in sites(text) if (text[s.begin:s.end], s.after) == (result["before"], result["after"])]
    places = [mutant for mutant in places if mutant.key() == key_of(result)]
    if not places:
        sys.exit(f"{described(result)}\nis not there any more")
    return min(places, key=lambda mutant: abs(mutant.line - result["line"]))


def table(results):
    counted = collections.Counter((folder_of(r["file"]), r["verdict"]) for r in results)
    folders = sorted({folder for folder, _ in counted})
    print(f"\n{'':<34}" + "".join(f"{verdict:>12}" for verdict in VERDICTS))
    for folder in folders + ["in all"]:
        row = [sum(n for (f, v), n in counted.items() if v == verdict and folder in (f, "in all")) for verdict in VERDICTS]
        print(f"{folder:<34}" + "".join(f"{n:>12}" for n in row))
    by = collections.Counter(re.sub(r":.*", "", r["by"]) for r in results if r["verdict"] == "noticed")
    print("\nnoticed by " + ", ".join(f"{name} {n}" for name, n in by.most_common()))


def folder_of(file):
    parts = file.split("/")
    return "/".join(parts[:-1][:3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--area", choices=AREAS, action="append", help="default: both")
    parser.add_argument("--count", type=int, default=100, help="mutants of each area that compile (default: 100)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time (default: processors)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=0.9, help="the share that must be noticed (default: 0.9)")
    parser.add_argument("--again", type=int, metavar="NUMBER", help="try one again, by its number in the results")
    parser.add_argument("--survivors", action="store_true", help="try all again that were not noticed")
    parser.add_argument("--quick", action="store_true", help="leave out the tests that take minutes, which --survivors makes up for")
    parser.add_argument("--list", action="store_true", help="print what would be drawn, and try nothing")
    parser.add_argument("--report", action="store_true", help="print the table of what was tried, and try nothing")
    options = parser.parse_args()
    every = []
    for name in options.area or AREAS:
        every += campaign(AREAS[name], options)
    if options.list:
        return
    table(every)
    valid = [r for r in every if r["verdict"] != "equivalent"]
    noticed = sum(r["verdict"] == "noticed" for r in valid)
    print(f"{noticed} of {len(valid)} mutants noticed, {100 * noticed / max(1, len(valid)):.1f} %")
    sys.exit(noticed < options.least * len(valid))


def campaign(kind, options):
    """The results of an area's mutants, equivalent ones among them."""
    PLACE.mkdir(parents=True, exist_ok=True)
    path = PLACE / f"{kind.area}-{options.seed}.jsonl"
    results = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known, excluded = equivalents(), rules()
    results = [r for r in results if not is_excluded(excluded, r["file"], r["of_line"])]  # rules may be younger than results
    for result in results:
        if key_of(result) in known:
            result.update(verdict="equivalent", by="equivalent.txt")
    if options.report:
        return finished(results, options.count)
    if options.list:
        drawing = Drawing(kind, options.seed)
        for _ in range(options.count):
            print(drawing.next().key())
        return []
    area = kind(options.quick)

    def tried(mutant, number):
        verdict, by = ("equivalent", "equivalent.txt") if mutant.key() in known else area.attempt(mutant, random.Random(f"{options.seed} {number}"))
        result = {name: getattr(mutant, name) for name in ("file", "line", "kind", "before", "after", "of_line", "nth")} | {"number": number, "verdict": verdict, "by": by}
        print(f"{now()}  {kind.area} {number}: {verdict} ({by}) {described(result)}", flush=True)
        return result

    def keep(result):
        results[:] = sorted([r for r in results if r["number"] != result["number"]] + [result], key=lambda r: r["number"])
        path.write_text("".join(json.dumps(r) + "\n" for r in results))

    again_ = [options.again] if options.again is not None else [r["number"] for r in results if r["verdict"] in ("survived", "unreached")] if options.survivors else None
    if again_ is not None:
        todo = ((again(results, number), number) for number in again_)
    else:
        todo = fresh_ones(Drawing(kind, options.seed), results, options.count)
    in_order(todo, tried, options.jobs, keep)
    return finished(results, options.count)


def fresh_ones(drawing, results, count):
    """Mutants with their numbers, while fewer than `count` of the results count. It is asked for the next one while others are tried."""
    before, number, asked = {key_of(r) for r in results}, max((r["number"] for r in results), default=-1) + 1, 0
    start = len(results)
    while True:
        counted = sum(r["verdict"] not in ("invalid", "equivalent") for r in results)
        if counted + asked - (len(results) - start) >= count:  # those that are tried now may all count
            if counted >= count:
                return
            yield None
            continue
        mutant = drawing.next()
        if mutant.key() not in before:
            yield mutant, number
            number, asked = number + 1, asked + 1


def in_order(todo, tried, jobs, keep):
    """Tries several at a time; `keep` takes each result in this thread. A None of `todo` says: ask again when something has ended."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = set()
        for each in todo:
            if each is not None:
                running.add(pool.submit(tried, *each))
            while running and (each is None or len(running) >= jobs):
                done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    keep(future.result())
                each = 0
        for future in concurrent.futures.as_completed(running):
            keep(future.result())


def finished(results, count):
    kept = []
    for result in results:
        if result["verdict"] != "invalid" and sum(r["verdict"] != "equivalent" for r in kept) < count:
            kept.append(result)
    return kept


if __name__ == "__main__":
    main()
