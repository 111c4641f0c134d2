"""The ways in which a random model is compiled: each shall give the same results, within their bounds."""
from typing import NamedTuple


class Variant(NamedTuple):
    options: tuple
    threads: int = 1
    worlds: object = None  # which are run; None: all

    def __str__(self):
        return " ".join([*self.options, *([f"--threads {self.threads}"] if self.threads > 1 else [])]) or "-O3"


OTHERS = ["O0", "O0", "memory", "memory", "threads", "bisect", "bisect", "math", "small", "level", "narrow", "growth", "dims", "subnormals", "regions"]
TARGETS = ["native"] * 5 + ["x86-64-v3", "x86-64-v2", "generic"]


def variants_of(case, random, count, target):
    """The usual way, and some others."""
    one = lambda *items: items[int(random.integers(len(items)))]  # noqa: E731
    aimed = () if target == "native" else (f"--target={target}",)
    found = [Variant(aimed)]
    symbols = case.grown.symbols if case.grown.worlds > 1 else {}
    kinds = OTHERS + ["dims"] * 5 * bool(symbols) + ["threads"] * 20 * case.grown.is_large
    for kind in [kinds[i] for i in random.permutation(len(kinds))[:count]]:
        if kind == "O0":
            v = Variant(("-O0",))
        elif kind == "memory":
            v = Variant((f"--memory={one('min', 'balanced')}",))
        elif kind == "threads":
            v = Variant((), one(2, 3))
        elif kind == "bisect":
            v = Variant((f"--opt-bisect-limit={int(random.integers(0, 20))}",))
        elif kind == "math":
            v = Variant((f"--math={one('reproducible', 'strict')}",))
        elif kind == "small":
            v = Variant(("-Os",))
        elif kind == "level":
            v = Variant((one("-O1", "-O2"),))
        elif kind == "narrow":
            v = Variant(("--narrow-weights=all",))
        elif kind == "growth":
            v = Variant((f"--weights-growth={one(1, 4)}",))
        elif kind == "subnormals":
            v = Variant(("--subnormals=keep",))
        elif kind == "regions":
            v = Variant(("--region=fast:2K", "--region=slow:64M"))
            if symbols:
                continue
        elif kind == "dims" and symbols:
            how = one("fixed", "bounded", "special")
            used = {d for dims in case.grown.dims.values() for d in dims if isinstance(d, str)}
            given = {n: e for n, e in symbols.items() if n in used}
            if how == "fixed":
                v = Variant(tuple(f"--dim={n}={e[0]}" for n, e in given.items()), 1, (0,))
            elif how == "bounded":
                v = Variant(tuple(f"--dim={n}=0..16" for n in given))
            else:
                v = Variant(tuple(f"--specialize={n}={e[0]}" for n, e in given.items()))
        else:
            continue
        found.append(Variant(aimed + v.options, v.threads, v.worlds))
    return list(dict.fromkeys(found))
