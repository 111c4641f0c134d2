"""onnxc report: what it writes, and, where there is a browser, what the pages do. check.py ONNXC [BROWSER]"""
import json
import os
import re
import subprocess
import sys
import tempfile

import models
from browser import Browser

onnxc, chromium = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
failures = 0


def expect(condition, text):
    global failures
    if not condition:
        failures += 1
        print(f"FAILED  {text}")


def report(*arguments, code=0, path=None, target="x86-64-v3"):
    environment = dict(os.environ, PATH=path) if path else None
    result = subprocess.run([onnxc, "report", "--target", target, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=300)
    expect(result.returncode == code, f"exit status {result.returncode}, not {code}, of report {' '.join(map(str, arguments))}: {result.stderr}")
    return result


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def page_data(path):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', read(path), re.S)[1])


def check_layout(graph, what):
    """Boxes do not overlap, and edges lead down but for a few that dot turns."""
    boxes = graph["layout"]["nodes"]
    rows = {}
    for x, y, w, h in boxes:
        rows.setdefault(y, []).append((x - w / 2, x + w / 2))
    overlaps = 0
    for row in rows.values():
        row.sort()
        overlaps += sum(a[1] > b[0] + 2 for a, b in zip(row, row[1:]))
    expect(overlaps == 0, f"{what}: {overlaps} boxes overlap")
    expect(all(boxes[a][1] < boxes[b][1] for a, b in graph["edges"]), f"{what}: an edge leads up")
    expect(len(boxes) == len(graph["nodes"]) and len(graph["layout"]["curves"]) == len(graph["edges"]), f"{what}: the layout is of another graph")


def check_files(folder):
    """What the command writes."""
    small, page, saved = f"{folder}/small.onnx", f"{folder}/small.html", f"{folder}/small.json"
    report(small, "-o", page, "--json", saved)
    data, description = page_data(page), json.loads(read(saved))
    expect({k: v for k, v in data.items() if k != "graphs"} == {k: v for k, v in description.items() if k != "graphs"}, "the page is made from what --json writes")
    first = read(page)
    report(small, "-o", page)
    expect(read(page) == first, "the same model gives the same bytes")
    expect(folder not in first, "no path of this machine is in the page")
    expect(not re.search(r"https?://(?!www\.w3\.org/2000/svg)", first.replace(models.HOSTILE, "")), "the page names no address")

    expect(description["totals"]["macs"] == sum(step["macs"] for step in description["steps"]), "the total of multiply-adds is that of the steps")
    nodes = description["graphs"]["model"]["nodes"]
    expect([n["title"] for n in nodes if n["kind"] == "node"] == ["Conv", "Relu", "GlobalAveragePool", "Flatten", "ReduceSum", "Greater", "If", "Tanh", "Exp", "MatMul"],
           "the model's graph has its nodes, those of branches after the If, by the attributes' names")
    expect(all(nodes[n["inside"]]["title"] == "If" for n in nodes if n["title"] in ("Exp", "Tanh")), "nodes of branches say whose they are")
    expect(next(n for n in nodes if n["title"] == "Conv")["subtitle"] == "f32[1, 8, 16, 16]", "types that the file does not say are there")
    expect({step["value"] for step in description["steps"] if step["depth"] == 1} == {"exp", "tanh", "chosen"}, "steps of branches are known by values of the model")
    steps = description["graphs"]["steps"]
    last = [steps["nodes"][a]["title"] for a, b in steps["edges"] if steps["nodes"][b]["kind"] == "output"]
    expect(len(last) == 1 and last[0].startswith(f"{len(description['steps'])} "), f"the last step leads to the output, not {last}")
    by_name = {p["name"]: p for p in description["passes"]}
    expect("before" not in by_name["import"] and by_name["import"]["after"] == 10, "the import counts nodes, regions included")
    expect(any("Relu" in gone["node"] for p in description["passes"] if "vanished" in p for gone in p["vanished"]) or
           any(c["before"].startswith("Relu") for p in description["passes"] if "changed" in p for c in p["changed"]), "some pass takes the Relu")
    for before, after in zip(description["passes"], description["passes"][1:]):
        expect(after["before"] == before["after"] and after["after"] - after["before"] == len(after["appeared"]) - len(after["vanished"]), f"the counts of {after['name']} add up")
    check_layout(data["graphs"]["model"], "dot, model")
    check_layout(data["graphs"]["steps"], "dot, steps")

    plain = report(small, "-o", f"{folder}/plain.html", path="/nonexistent")
    expect("graphviz" in plain.stderr and plain.stderr.count("\n") == 1, "a line says that dot is missing, and what would help")
    data = page_data(f"{folder}/plain.html")
    expect(data["graphs"]["model"]["layout"]["by"] == "layers", "there is a layout without dot")
    check_layout(data["graphs"]["model"], "layers, model")
    check_layout(data["graphs"]["steps"], "layers, steps")

    report(f"{folder}/large.onnx", "-o", f"{folder}/large.html")
    large = page_data(f"{folder}/large.html")
    expect(len(large["graphs"]["model"]["nodes"]) > 5000, "the large model has all of its nodes")
    check_layout(large["graphs"]["model"], "large model")

    report(f"{folder}/symbolic.onnx", "-o", f"{folder}/symbolic.html")
    expect("bytes" not in page_data(f"{folder}/symbolic.html")["arena"], "a symbolic arena has no size")
    report(f"{folder}/symbolic.onnx", "-o", f"{folder}/fixed.html", "--dim", "batch=4")
    expect(page_data(f"{folder}/fixed.html")["arena"]["bytes"] >= 0, "with --dim it has one")

    report(small, "-o", f"{folder}/gpu.html", target="cuda-sm80")
    gpu = page_data(f"{folder}/gpu.html")
    expect({step["device"] for step in gpu["steps"]} == {"gpu", "host"} and gpu["transfers"]["to_host"] > 0, "the host decides the If, and the rest is the GPU's")
    expect(gpu["device_arena"]["bytes"] > 0 and {b["device"] for b in gpu["buffers"] if b["place"] == "arena"} == {"gpu", "host"}, "there are two arenas")
    expect("device_arena" not in data, "and one on a processor")

    report(small, "-o", f"{folder}/regions.html", "--region", "quick:1K:.quick", "--region", "roomy:64K")
    of_regions = page_data(f"{folder}/regions.html")
    parts = {region["name"]: region["bytes"] for region in of_regions["regions"]}
    expect(sum(parts.values()) == of_regions["arena"]["bytes"] and parts["roomy"] > 0 and of_regions["regions"][0]["constant_bytes"] > 0, f"regions: {of_regions['regions']}")
    placed = [b for b in of_regions["buffers"] if b["place"] == "arena" and "first" in b]
    expect(placed and all(b["offset"] + b["bytes"] <= parts[b["region"]] for b in placed), "every buffer lies in a region")
    expect(0 < sum(w["bytes"] for w in of_regions["weights"] if w.get("region") == "quick") <= of_regions["regions"][0]["constant_bytes"], "constants say where they lie")
    expect("regions" not in data, "and there are none that nobody named")

    models.quantised(f"{folder}/quantised.onnx")
    report(f"{folder}/quantised.onnx", "-o", f"{folder}/quantised.html")
    floats = page_data(f"{folder}/quantised.html")["floats"]
    expect(floats == [{"op": "Softmax", "reason": "Softmax has no form on bytes", "nodes": [{"name": "soft", "output": "s"}]}], f"nodes in floats have their reasons: {floats}")
    expect(data["floats"] == [] and "buildFloats" in read(page), "there are none in a network of floats")

    report(f"{folder}/hostile.onnx", "-o", f"{folder}/hostile.html")
    page = read(f"{folder}/hostile.html")
    expect(page.count("</script>") == 2 and page.count("<script") == 2 and "<img" not in page and "<!--" not in page, "names open and close no element")
    expect(any(n["name"] == models.HOSTILE for n in page_data(f"{folder}/hostile.html")["graphs"]["model"]["nodes"]), "and they are there as they are")


def check_profile(folder):
    small = f"{folder}/small.onnx"
    steps = len(json.loads(read(f"{folder}/small.json"))["steps"])
    profile = {"tick_ns": 1, "peak_gmacs": 80.5, "steps": [{"number": i + 1, "calls": 1, "mean_ns": 100.5 * (i + 1), "best_ns": 90} for i in range(steps)]}
    with open(f"{folder}/profile.json", "w") as file:
        json.dump(profile, file)
    report(small, "-o", f"{folder}/profiled.html", "--json", f"{folder}/profiled.json", "--profile", f"{folder}/profile.json")
    expect(json.loads(read(f"{folder}/profiled.json"))["profile"]["steps"][1]["mean_ns"] == 201.0, "measured times are in the description")
    for bad in ('{"steps": [{"number": 999, "mean_ns": 1}]}', '{"steps": [{"number": 0, "mean_ns": 1}]}', '{"steps": 3}', '{"steps": [{"number": "</script>"}]}', "[]", "nothing"):
        with open(f"{folder}/bad.json", "w") as file:
            file.write(bad)
        refused = report(small, "-o", f"{folder}/bad.html", "--profile", f"{folder}/bad.json", code=2)
        expect(refused.stderr.count("\n") == 1 and "onnxc profile --json" in refused.stderr and not os.path.exists(f"{folder}/bad.html"), f"a bad profile is refused in a line: {bad}")


def check_difference(folder):
    small, wider = f"{folder}/small.onnx", f"{folder}/wider.onnx"
    report("--diff", small, wider, "-o", f"{folder}/diff.html", "--json", f"{folder}/diff.json")
    data = json.loads(read(f"{folder}/diff.json"))
    a, b = json.loads(read(f"{folder}/small.json")), None
    expect(sorted(row["a"]["number"] for row in data["rows"] if row["a"]) == list(range(1, len(a["steps"]) + 1)), "each step of A stands in one row")
    expect([row["b"]["number"] for row in data["rows"] if row["b"]] == list(range(1, data["b"]["steps"] + 1)), "steps of B are in their order")
    expect(any(row["a"] is None and "soft" in row["b"]["value"] for row in data["rows"]), "the Softmax is added")
    expect(all(row["a"]["value"] == row["b"]["value"] for row in data["rows"] if row["a"] and row["b"]), "rows match values")
    product = next(row for row in data["rows"] if row["b"] and row["b"]["value"] == "y")
    expect(product["b"]["macs"] == 2 * product["a"]["macs"], "the product has twice the multiply-adds")

    report("--diff", f"{folder}/small.json", small, "--json", f"{folder}/same.json")
    same = json.loads(read(f"{folder}/same.json"))
    expect(all(row["a"] == row["b"] for row in same["rows"]) and same["a"] == same["b"], "a saved description equals its model")
    report("-O0", small, "--json", f"{folder}/slow.json")
    report("--diff", f"{folder}/slow.json", f"{folder}/profiled.json", "-o", f"{folder}/slow.html", "--json", f"{folder}/slow_diff.json")
    slow = json.loads(read(f"{folder}/slow_diff.json"))
    expect(any(row["a"] and row["b"] and row["a"]["label"] != row["b"]["label"] for row in slow["rows"]), "kernels differ between -O0 and -O3")
    expect(all("measured_ns" in row["b"] for row in slow["rows"] if row["b"]), "measured times are compared")

    for text in ("{}", '{"kind": "report"}', '{"kind": "report", "steps": [{}]}', "{"):
        with open(f"{folder}/bad.json", "w") as file:
            file.write(text)
        refused = report("--diff", f"{folder}/bad.json", small, "-o", f"{folder}/bad.html", code=2)
        expect(refused.stderr.count("\n") == 1, f"a bad description is refused in a line: {text}")
    report("--diff", small, "-o", f"{folder}/bad.html", code=2)
    expect("compared with" in report("--diff", small, f"{folder}/nothing.onnx", "-o", f"{folder}/bad.html", code=3).stderr, "errors of the second model name it")
    report(small, wider, "-o", f"{folder}/bad.html", code=2)
    report(small, code=2)
    report(f"{folder}/nothing.onnx", "-o", f"{folder}/bad.html", code=3)
    expect("no_such_folder" in report(small, "-o", f"{folder}/no_such_folder/r.html", code=3).stderr, "a page that cannot be written is an error")


TABS = ("graph", "passes", "memory", "steps", "weights")


def place(browser, view, node):
    """Where a node is in the window."""
    return browser.evaluate(f"(() => {{ const v = onnxcViews.{view}, p = v.place({node}), r = v.canvas.getBoundingClientRect(); return [r.left + p.x, r.top + p.y]; }})()")


def check_pages(folder, browser):
    for name in ("small", "plain", "symbolic", "fixed", "hostile", "profiled", "gpu", "regions"):
        for dark in (False, True):
            browser.open(f"{folder}/{name}.html", dark=dark)
            for tab in TABS:
                browser.evaluate(f"location.hash = '{tab}'")
                browser.frames(3)
                expect(browser.evaluate(f"document.querySelector('main > section.{tab}').childElementCount > 0 && document.querySelector('main > section.{tab}').offsetHeight > 0"), f"{name}: {tab} is empty")
            expect(browser.errors == [], f"{name}: {browser.errors}")
            expect(all(url.startswith(("file:", "about:", "data:")) for url in browser.requests), f"{name}: loads {browser.requests}")
        expect("x" != browser.evaluate("document.title") and browser.evaluate("document.images.length") == 0, f"{name}: a name was executed")

    browser.open(f"{folder}/quantised.html")
    browser.evaluate("location.hash = 'floats'")
    browser.frames(3)
    text = browser.evaluate("document.querySelector('main > section.floats').innerText")
    expect(browser.errors == [] and "Softmax: Softmax has no form on bytes" in text and "soft" in text, f"nodes in floats: {text} {browser.errors}")

    for page, tab, words in (("gpu", "memory", ("On the GPU", "On the host")), ("gpu", "steps", ("GPU", "host")), ("regions", "memory", ("Region quick", "Region roomy", "Constants: "))):
        browser.open(f"{folder}/{page}.html")
        browser.evaluate(f"location.hash = '{tab}'")
        browser.frames(3)
        text = browser.evaluate(f"document.querySelector('main > section.{tab}').innerText")
        expect(browser.errors == [] and all(word in text for word in words), f"{page}, {tab}: {text[:500]} {browser.errors}")

    # A click shows a node, and where it is on the other side.
    browser.open(f"{folder}/small.html")
    conv = browser.evaluate("data.graphs.model.nodes.findIndex(node => node.title === 'Conv')")
    browser.click(*place(browser, "model", conv))
    text = browser.evaluate("document.querySelector('.details').innerText")
    expect("first_conv" in text and "kernel_shape = [3, 3]" in text and "step 1" in text, f"the details of the Conv: {text}")
    expect(browser.evaluate("onnxcViews.steps.marks.size") >= 1, "the step of the Conv is marked")
    step = browser.evaluate("[...onnxcViews.steps.marks.keys()][0]")
    browser.click(*place(browser, "steps", step))
    text = browser.evaluate("document.querySelector('.details').innerText")
    expect(all(word in text for word in ("Step 1", "multiply-adds", "first_conv", "Weights")), f"the details of the step: {text}")
    expect(browser.evaluate(f"onnxcViews.model.marks.has({conv})"), "the Conv is marked in turn")
    relu = browser.evaluate("data.graphs.model.nodes.findIndex(node => node.title === 'Relu')")
    expect(browser.evaluate(f"onnxcViews.model.marks.has({relu})"), "and so is the Relu that it absorbed")

    # Search, theme, sorting, the hash of a tab.
    browser.evaluate("(() => { const box = document.querySelector('.graph input[type=search]'); box.value = 'first_conv'; box.dispatchEvent(new Event('input')); })()")
    expect(browser.evaluate(f"onnxcViews.model.marks.has({conv})"), "a search by name finds the Conv")
    dark = browser.evaluate("document.documentElement.classList.contains('dark')")
    browser.evaluate("document.getElementById('theme').click()")
    expect(browser.evaluate("document.documentElement.classList.contains('dark')") != dark, "the switch changes the theme")
    browser.evaluate("location.hash = 'steps'")
    browser.frames(3)
    rows = "[...document.querySelectorAll('.steps tbody tr')].map(row => +row.cells[0].textContent)"
    expect(browser.evaluate(rows) == browser.evaluate("data.steps.map(step => step.number)"), "steps are in their order at first")
    browser.evaluate("[...document.querySelectorAll('.steps th')].find(head => head.textContent.startsWith('predicted')).click()")
    expect(browser.evaluate(rows) == browser.evaluate("data.steps.slice().sort((a, b) => b.cost_ns - a.cost_ns).map(step => step.number)"), "a click on a column sorts by it")
    browser.evaluate("document.querySelector('.steps tbody tr').click()")
    browser.wait("document.querySelector('.details').innerText.startsWith('Step')", 5)

    for name in ("diff", "slow"):
        browser.open(f"{folder}/{name}.html")
        expect(browser.errors == [] and browser.evaluate("document.querySelectorAll('tbody tr').length") >= 5, f"{name}: {browser.errors}")


def check_large(folder, browser):
    """5,000 nodes: the page draws, and moves. Times depend on the machine, so the limit is far off."""
    browser.open(f"{folder}/large.html")
    expect(browser.errors == [], f"large: {browser.errors}")
    box = browser.evaluate("(r => [r.left, r.top, r.width, r.height])(onnxcViews.model.canvas.getBoundingClientRect())")
    x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
    before = browser.evaluate("[onnxcViews.model.x, onnxcViews.model.y, onnxcViews.model.frames]")
    close = browser.drag(x, y, -100, -200, 30)
    after = browser.evaluate("[onnxcViews.model.x, onnxcViews.model.y, onnxcViews.model.frames]")
    expect(after[0] > before[0] and after[1] > before[1] and after[2] > before[2], f"dragging moves the graph: {before}, {after}")
    browser.evaluate("onnxcViews.model.fit()")
    whole = browser.drag(x, y, -20, -60, 30)
    scale = browser.evaluate("onnxcViews.model.scale")
    browser.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-400)
    browser.frames(3)
    expect(browser.evaluate("onnxcViews.model.scale") > scale, "the wheel zooms")
    print(f"5000 nodes: {close:.0f} ms a step of dragging, {whole:.0f} ms with all of them in sight")
    expect(close < 500 and whole < 1000, "the large graph moves")


with tempfile.TemporaryDirectory() as folder:
    models.small(f"{folder}/small.onnx")
    models.small(f"{folder}/wider.onnx", channels=16, extra=True)
    models.symbolic(f"{folder}/symbolic.onnx")
    models.hostile(f"{folder}/hostile.onnx")
    models.large(f"{folder}/large.onnx")
    check_files(folder)
    check_profile(folder)
    check_difference(folder)
    if chromium:
        with Browser(chromium) as browser:
            check_pages(folder, browser)
            check_large(folder, browser)
print("report: " + (f"{failures} FAILED" if failures else "passed"))
sys.exit(1 if failures else 0)
