#!/usr/bin/env python3
"""Compares onnxc with ONNX Runtime over tables on local clusters of Ray and of Spark: two workers, one thread each, the same batches and the same harness.

  bench/cluster.py ZOO/lightgbm_clf ZOO/churn_mlp                    a million rows through each
  bench/cluster.py model.onnx --engines spark --rows 100000 --rounds 3
  bench/cluster.py model.onnx --as array --out table.md

A model has one input [N, k] of floats. Rows are made of the data set beside it: each column's values, drawn with replacement. Three jobs take turns over a table that is in
memory: "identity" passes batches through and is what the cluster costs alone, "onnxc" is onnxc.ray.Predictor or onnxc.spark.predict, "ONNX Runtime" does the same in numpy and
Arrow around an InferenceSession of one thread. Results are compared first. docs/benchmarks.md explains the columns.

Exit status: 0, 1 where results differ, 2 for wrong usage, 3 where a file is not there, 77 where Ray and Spark are not installed (tools/setup.sh --cluster-deps).
"""
import argparse
import functools
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BATCH = 8192
JOBS = ("identity", "onnxc", "ONNX Runtime")


def fail(message, status=2):
    print(f"cluster: {message}", file=sys.stderr)
    sys.exit(status)


def enter():
    """Goes on in the Python that has Ray and Spark."""
    found = subprocess.run(["bash", "-c", '. tools/env.sh; echo "$ONNXC_CLUSTER_VENV"'], cwd=ROOT, capture_output=True, text=True, check=True)
    venv = Path(found.stdout.strip())
    if not (venv / ".complete").exists():
        fail("no Python with Ray and Spark: tools/setup.sh --cluster-deps", 77)
    if Path(sys.prefix) != venv:
        os.execv(venv / "bin/python", [str(venv / "bin/python"), *sys.argv])


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", type=Path, help="an .onnx file or a folder with model.onnx")
    parser.add_argument("--engines", default="ray,ray-tasks,spark", metavar="LIST", help="which of ray, ray-tasks, spark (default: all)")
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of each job (default: 5)")
    parser.add_argument("--as", dest="form", choices=("columns", "array"), default="columns", help="the input as a column for each number, or as one of lists (default: columns)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the table there, too")
    options = parser.parse_args()
    options.engines = options.engines.split(",")
    if set(options.engines) - {"ray", "ray-tasks", "spark"}:
        fail("--engines knows ray, ray-tasks and spark")
    if options.rows < 1 or options.rounds < 1:
        fail("--rows and --rounds are positive")
    options.models = [path / "model.onnx" if path.is_dir() else path for path in options.models]
    for path in options.models:
        if not path.is_file():
            fail(f"{path}: no such file", 3)
    return options


class Task:
    """A model with the table that it runs over."""

    def __init__(self, path, rows, form):
        import numpy as np
        import onnx
        import pyarrow as pa

        import onnxc

        self.path, self.name, self.form = path, path.parent.name if path.name == "model.onnx" else path.stem, form
        self.library = onnxc.Library(str(path))
        (column,) = self.library.inputs
        self.input, width = column.name, column.dims[1]
        self.names = [f"c{k}" for k in range(width)] if form == "columns" else [self.input]
        tensor = onnx.TensorProto.FromString((path.parent / "test_data_set_0/input_0.pb").read_bytes())
        seen, random = onnx.numpy_helper.to_array(tensor).astype(np.float32), np.random.default_rng(1)
        self.x = np.stack([random.choice(seen[:, k], rows) for k in range(width)], 1)
        if form == "columns":
            self.table = pa.table({name: np.ascontiguousarray(self.x[:, k]) for k, name in enumerate(self.names)})
        else:
            offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * np.int32(width))
            self.table = pa.table({self.input: pa.ListArray.from_arrays(offsets, pa.array(self.x.reshape(-1)))})
        self.arguments = {"inputs": {self.input: self.names}}


@functools.lru_cache(maxsize=None)
def onnxruntime_session(path):
    """One for each process."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


class InOnnxRuntime:
    """Batches of Arrow through ONNX Runtime."""

    def __init__(self, path, name, columns, output_names):
        self._path, self._name, self._columns, self._output_names = path, name, columns, output_names

    def __call__(self, batch):
        import numpy as np
        import pyarrow as pa

        columns = [batch[name] for name in self._columns]
        columns = [column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column for column in columns]
        if len(columns) > 1:
            x = np.empty((batch.num_rows, len(columns)), np.float32)
            for k, column in enumerate(columns):
                x[:, k] = column.to_numpy()
        else:
            x = columns[0].flatten().to_numpy().reshape(batch.num_rows, -1)
        made = {}
        for name, y in zip(self._output_names, onnxruntime_session(self._path).run(None, {self._name: x})):
            if y.ndim == 1 or y.shape[1] == 1:
                made[name] = pa.array(y.reshape(-1))
            else:
                made[name] = pa.ListArray.from_arrays(pa.array(np.arange(len(y) + 1, dtype=np.int32) * np.int32(y.shape[1])), pa.array(y.reshape(-1)))
        return pa.table(made) if isinstance(batch, pa.Table) else pa.RecordBatch.from_pydict(made)


class Identity:
    """Batches as they are."""

    def __call__(self, batch):
        return batch


def peer(task):
    return InOnnxRuntime, (str(task.path), task.input, task.names, [output.name for output in task.library.outputs])


class OnRay:
    """Actors, which start with each job."""

    title = "Ray, actors"

    def __init__(self):
        import logging

        import ray
        import ray.data

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        logging.getLogger("ray.data").setLevel("CRITICAL")
        ray.data.DataContext.get_current().enable_progress_bars = False
        self.ray = ray

    def load(self, task):
        blocks = 8
        size = -(-task.table.num_rows // blocks)
        self.dataset = self.ray.data.from_arrow([task.table.slice(k * size, size).combine_chunks() for k in range(blocks)]).materialize()
        self.task = task

    def job(self, name):
        import onnxc.ray

        kind, arguments = {"identity": (Identity, ()), "onnxc": (onnxc.ray.Predictor, (self.task.library,)), "ONNX Runtime": peer(self.task)}[name]
        return self.map(kind, arguments, self.task.arguments if name == "onnxc" else {})

    def map(self, kind, arguments, named):
        return self.dataset.map_batches(kind, fn_constructor_args=arguments, fn_constructor_kwargs=named, batch_format="pyarrow", batch_size=BATCH,
                                        compute=self.ray.data.ActorPoolStrategy(size=2))

    def run(self, name):
        self.job(name).materialize()

    def sample(self, name):
        import pyarrow as pa

        return pa.concat_tables(self.ray.get(self.job(name).to_arrow_refs()))

    def close(self):
        self.ray.shutdown()


class OnRayTasks(OnRay):
    """Tasks, in processes that Ray keeps."""

    title = "Ray, tasks"

    def map(self, kind, arguments, named):
        return self.dataset.map_batches(kind(*arguments, **named), batch_format="pyarrow", batch_size=BATCH)


class OnSpark:
    title = "Spark"

    def __init__(self):
        from pyspark.sql import SparkSession

        os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        self.spark = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF").config("spark.ui.showConsoleProgress", "false")
                      .config("spark.driver.memory", "6g").config("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH)).getOrCreate())

    def load(self, task):
        self.spark.catalog.clearCache()
        self.frame = self.spark.createDataFrame(task.table).repartition(4).cache()
        self.frame.count()
        self.task = task

    def job(self, name):
        import onnxc.spark

        if name == "onnxc":
            return onnxc.spark.predict(self.frame, self.task.library, **self.task.arguments)
        if name == "identity":
            return self.frame.mapInArrow(lambda batches: batches, self.frame.schema)
        kind, arguments = peer(self.task)
        return self.frame.mapInArrow(lambda batches: map(kind(*arguments), batches), onnxc.spark.predict(self.frame, self.task.library, **self.task.arguments).schema)

    def run(self, name):
        self.job(name).write.format("noop").mode("overwrite").save()

    def sample(self, name):
        return self.job(name).toArrow()

    def close(self):
        self.spark.stop()


def worst_difference(left, right):
    """Between columns of numbers or lists of them, which are sorted first: rows come in any order."""
    import numpy as np

    def numbers(column):
        flat = column.combine_chunks()
        flat = flat.flatten() if hasattr(flat, "flatten") and str(flat.type).startswith("list") else flat
        return np.sort(flat.to_numpy().reshape(len(column), -1), axis=0)

    worst = 0.0
    for name in left.column_names:
        a, b = numbers(left[name]), numbers(right[name])
        worst = max(worst, float(np.abs(a - b).max())) if a.shape == b.shape else float("inf")
    return worst


def alone(task, rounds):
    """{job: nanoseconds of processor time a row} of what a worker does with a batch, in this process; the quickest round."""
    import onnxc.ray

    kind, arguments = peer(task)
    functions = {"onnxc": onnxc.ray.Predictor(task.library, **task.arguments), "ONNX Runtime": kind(*arguments)}
    batches = [task.table.slice(k * BATCH, BATCH) for k in range(min(16, task.table.num_rows // BATCH))] or [task.table]
    rows, best = sum(batch.num_rows for batch in batches), dict.fromkeys(functions, float("inf"))
    for _ in range(rounds + 1):  # the first one loads and warms
        for name, function in functions.items():
            begin = time.process_time()
            for batch in batches:
                function(batch)
            best[name] = min(best[name], 1e9 * (time.process_time() - begin) / rows)
    return best


def measure(engine, task, rounds):
    engine.load(task)
    difference = worst_difference(engine.sample("onnxc"), engine.sample("ONNX Runtime"))
    times = {name: [] for name in JOBS}
    for turn in range(rounds):
        for name in JOBS if turn % 2 == 0 else reversed(JOBS):
            begin = time.perf_counter()
            engine.run(name)
            times[name].append(time.perf_counter() - begin)
    return times, difference


def row(engine, task, times, difference, batch):
    median = {name: statistics.median(samples) for name, samples in times.items()}
    own = {name: median[name] - median["identity"] for name in JOBS}
    above = f"{own['ONNX Runtime'] / own['onnxc']:.1f}" if own["onnxc"] > 0.05 * median["identity"] else "-"  # less is not to be told from nothing
    rates = " | ".join(f"{task.table.num_rows / median[name] / 1e6:.2f}" for name in JOBS)
    spread = max(max(samples) / min(samples) for samples in times.values())
    return (f"| {task.name} | {engine.title} | {task.form} | {rates} | {median['ONNX Runtime'] / median['onnxc']:.2f} | "
            f"{min(times['ONNX Runtime']) / min(times['onnxc']):.2f} | {above} | {batch['onnxc']:.0f} | {batch['ONNX Runtime']:.0f} | {spread:.1f} | {'equal' if difference == 0 else f'{difference:.0e}'} |")


def main():
    options = parse()
    enter()
    sys.path.insert(0, str(ROOT / "python"))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), str(ROOT / "bench"), os.environ.get("PYTHONPATH", "")])
    import cluster  # by this name workers find the classes below
    import machine

    from onnxc import build

    lines, worst = [], 0.0
    tasks = [cluster.Task(path, options.rows, options.form) for path in options.models]
    by_itself = [cluster.alone(task, options.rounds) for task in tasks]
    for kind in [{"ray": cluster.OnRay, "ray-tasks": cluster.OnRayTasks, "spark": cluster.OnSpark}[name] for name in options.engines]:
        engine = kind()
        try:
            for task, batch in zip(tasks, by_itself):
                times, difference = measure(engine, task, options.rounds)
                worst = max(worst, difference)
                lines.append(row(engine, task, times, difference, batch))
                print(lines[-1], {name: [round(t, 2) for t in samples] for name, samples in times.items()}, file=sys.stderr, flush=True)
        finally:
            engine.close()
    described = machine.describe(build.find_executable(), {})
    text = "\n".join([
        f"{described['processor']}, {described['cores']} cores, {described['date']}, commit {described['commit']}; {options.rows} rows, {options.rounds} rounds.", "",
        "| model | cluster | input | identity, M rows/s | onnxc | ONNX Runtime | ratio | of bests | above identity | a batch, ns a row | of ONNX Runtime | spread | differs |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|", *lines, ""])
    print(text)
    if options.out:
        options.out.write_text(text)
    return 0 if worst < 1e-4 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        fail("interrupted", 130)
