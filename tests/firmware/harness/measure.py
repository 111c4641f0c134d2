"""A model on a machine: the unit is made, built, run and weighed. What comes out is a row."""
from . import emulate, image

# Columns of a row as text: what it is called, where its figure is, how wide it is.
COLUMNS = [("instructions", lambda row: row["instructions"], 13), ("per mac", lambda row: per_mac(row), 7), ("cycles", lambda row: row["cycles"], 13), *((key, lambda row, key=key: row[key], 9) for key in (
    "text", "rodata", "weights", "data", "bss", "arena", "stack")), ("frame", lambda row: row["frames"][0][0], 6)]


def per_mac(row):
    """Instructions for each multiply-add of the model."""
    return row["instructions"] / row["macs"] if row.get("instructions") and row["macs"] else None


def measure(onnxc, case, machine, level, folder, target=None, options=()):
    """Of the unit that onnxc makes. `wrong` is in the row if something is."""
    return measured(case, machine, level, folder, lambda: image.onnxc_unit(onnxc, case, machine, level, folder, target, options))


def measured(case, machine, level, folder, make_unit):
    """Of a unit of whatever origin."""
    row = {"model": case.name, "machine": machine.name, "level": level, "macs": case.macs}
    folder.mkdir(parents=True, exist_ok=True)
    try:
        unit = make_unit()
        made, sizes = image.build(case, machine, level, unit, folder)
        row |= {"arena": unit.arena, **sizes, "frames": image.frames(folder)}
        ran = emulate.run(case, machine, made)
        row |= {"instructions": ran["instructions"], "cycles": ran.get("cycles"), "stack": ran["stack"], "result": ran["digest"]}
        wrong = f"status {ran['status']}" if ran["status"] != 0 else case.error(ran["outputs"]) or beyond(unit.stack_bound, ran["stack"])
    except image.Failed as failure:
        wrong = str(failure)
    return row if wrong is None else {**row, "wrong": wrong}


# What the image's own function that calls the unit has on the stack, and what cannot be told from less: image/main.cpp.
CALLER, LEAST = 64, 128


def beyond(bound, stack):
    """What is wrong if the run took more stack than the unit states."""
    return None if bound is None or stack <= max(bound + CALLER, LEAST) else f"{stack} bytes of stack, more than the unit's stack_bytes = {bound}"


def cell(figure):
    return "" if figure is None else f"{figure:.2f}" if isinstance(figure, float) else f"{figure:,}"


def line(row):
    """A row as text."""
    figures = " ".join(f"{cell(figure(row)):>{width}}" for _, figure, width in COLUMNS) if "stack" in row else ""
    return f"{row['model']:<22} {row['machine']:<15} {row['level']:<3} {figures}  {'WRONG: ' + row['wrong'] if 'wrong' in row else 'right'}"


def head():
    return f"{'model':<22} {'machine':<15} {'':<3} " + " ".join(f"{name:>{width}}" for name, _, width in COLUMNS)
