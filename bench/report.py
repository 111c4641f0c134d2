"""What a comparison says to its reader: a Markdown table, JSON with all figures, and a picture of the ratios."""
import json
import math
import statistics

from engines import TITLES

KIB, MIB = 1 << 10, 1 << 20


def factor(result, figure="median", peers=None):
    """How many times faster onnxc is than the fastest peer, by medians or bests; None where there is nothing to compare."""
    engines = result["engines"]
    others = [engines[p][figure] for p in (peers or engines) if p != "onnxc" and p in engines]
    return min(others) / engines["onnxc"][figure] if others and "onnxc" in engines else None


def scaling(result, figure="median"):
    """How many times faster onnxc is than on one thread; None where that did not run."""
    one, several = result.get("one_thread"), result["engines"].get("onnxc")
    return one[figure] / several[figure] if one and several else None


def share_of_peak(result, peak):
    """Of the machine's multiply-adds a second; None where the model's are not known. More than 1 is possible: Winograd needs fewer."""
    if not result["macs"] or "onnxc" not in result["engines"]:
        return None
    return result["macs"] / result["engines"]["onnxc"]["median"] / peak


def text(value, form):
    return "-" if value is None else form.format(value)


def plain(value, digits=3):
    """So many digits that count, without an exponent."""
    return "-" if value is None else f"{value:.0f}" if value >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def count_of(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def table(head, rows):
    """Markdown; all columns but the first are to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def times_table(results, peers, peak):
    rows, scaled, several = [], any(scaling(r) for r in results), any(r.get("handover") for r in results)
    for r in results:
        median = {name: 1e6 * figures["median"] for name, figures in r["engines"].items()}
        growth = r["weights_bytes"] / r["model_weights_bytes"] if r.get("model_weights_bytes") and "weights_bytes" in r else None
        rows.append([r["model"], *(plain(median.get(name), 4) for name in ("onnxc", *peers)),
                     text(factor(r), "{:.2f}"), text(factor(r, "best"), "{:.2f}"),
                     *([text(scaling(r), "{:.2f}"), text(scaling(r, "best"), "{:.2f}")] if scaled else []),
                     *([" to ".join(plain(1e9 * s) for s in r.get("handover", ())) or "-"] if several else []),
                     plain(r["macs"] and r["macs"] / 1e6, 4), text(share_of_peak(r, peak), "{:.0%}"), text(growth, "{:.2f}"),
                     plain(r["arena_bytes"] / KIB if "arena_bytes" in r else None, 4), text(r.get("onnxc_to_ort_rel_l2"), "{:.0e}")])
    engines = [f"{TITLES[name]} us" for name in ("onnxc", *peers)]
    own = ["times own one thread", "of bests"] if scaled else []
    own += ["handover ns"] if several else []
    return table(["model", *engines, "ratio", "of bests", *own, "MMAC", "of peak", "weights x", "arena KiB", "rel L2"], rows)


def first_result_table(results, peers):
    """A cell holds the figures of all engines, in the order of the columns of times_table."""
    names = ["onnxc", *peers]

    def cell(result, figure):
        return " / ".join(plain(figure(name, result["first_result"][name]) if name in result["first_result"] else None) for name in names)

    rows = []
    for r in results:
        def size(name, first, model_bytes=r.get("model_file_bytes")):
            return (first["program_bytes"] if name == "onnxc" else first["library_bytes"] + model_bytes) / MIB

        rows.append([r["model"], cell(r, lambda _, first: 1e3 * first["seconds"]), cell(r, lambda _, first: first["peak_bytes"] / MIB),
                     cell(r, lambda _, first: first.get("peak_without_import_bytes", first["peak_bytes"]) / MIB), cell(r, size)])
    engines = " / ".join(TITLES[name] for name in names)
    return [f"A process that runs the model once, {engines}:", "",
            *table(["model", "first result ms", "peak MiB", "peak without import MiB", "program, library + model MiB"], rows)]


def summary(results):
    """The geometric mean and the slowest of the ratios, or nothing."""
    factors = [f for r in results if (f := factor(r))]
    if not factors:
        return "no model ran on onnxc and a peer"
    mean = math.exp(statistics.fmean(map(math.log, factors)))
    return f"Ratio to the faster peer over {count_of(len(factors), 'model')}: geometric mean {mean:.2f}, least {min(factors):.2f}."


def provenance(run):
    machine = run["machine"]
    peers = ", ".join(f"{TITLES[name]} {version}" for name, version in machine["peers"].items())
    threads = count_of(run["threads"], "thread")
    words = {"stolen": "stolen by other machines on the host", "others": "taken by other programs"}
    disturbance = ", ".join(f"{share:.0%} {words[what]}" for what, share in run["disturbance"].items())
    return (f"{machine['processor']}, {machine['cores']} cores; {threads}, measured FMA peak {run['peak_macs'] / 1e9:.0f} GMAC/s. "
            f"{machine['onnxc']} at {machine['commit']}, {machine['compiler']}; {peers}. {machine['date']}. "
            f"Of the processors' time in the run: {disturbance or 'unknown'}.")


def markdown(run):
    results, peers = run["results"], list(run["machine"]["peers"])
    lines = times_table(results, peers, run["peak_macs"])
    if any(r["first_result"] for r in results):
        lines += ["", *first_result_table(results, peers)]
    lines += ["", summary(results), "", provenance(run)]
    notes = [f"- {r['model']}, {what}: {note}" for r in results for what, note in r["notes"].items()]
    return "\n".join(lines + ([""] + notes if notes else [])) + "\n"


def picture(run, path):
    """An SVG of bars, one for each model: how many times faster onnxc is than the faster peer. The same figures give the same bytes."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "onnxc", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10})
    from matplotlib import pyplot

    bars = sorted((f, r["model"]) for r in run["results"] if (f := factor(r)))
    if not bars:
        return
    figure, axes = pyplot.subplots(figsize=(8, 0.9 + 0.3 * len(bars)), layout="constrained")
    factors, names = zip(*bars)
    drawn = axes.barh(range(len(bars)), factors, tick_label=names, color=["#2a7f62" if f >= 1 else "#b5523b" for f in factors], height=0.7)
    axes.bar_label(drawn, labels=[f"{f:.2f}" for f in factors], padding=3)
    axes.axvline(1, color="#555555", linewidth=0.8)
    axes.set_xlim(0, 1.1 * max(1, *factors))
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    peers = " and ".join(TITLES[name] for name in run["machine"]["peers"])
    axes.set_title(f"Times faster than the faster of {peers}, {count_of(run['threads'], 'thread')}, f32", loc="left", fontsize=10)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def write_section(page, heading, text):
    """A section of a page, `heading` with its marks: in place of the section of that heading, else before "All machines", else at the end."""
    body, section = page.read_text(), f"{heading}\n\n{text}\n"
    start = body.find(f"{heading}\n")
    if start >= 0:
        end = body.find("\n## ", start)
        body = body[:start] + section + (body[end + 1 :] if end >= 0 else "")
    else:
        at = body.find("## All machines\n")
        body = body[:at] + section + body[at:] if at >= 0 else f"{body}\n{section}"
    page.write_text(body)


def write(run, folder):
    """table.md, results.json and ratios.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(markdown(run))
    (folder / "results.json").write_text(json.dumps(run, indent=1) + "\n")
    picture(run, folder / "ratios.svg")
