"""What a model is fed with: the first data set beside it, else made-up values."""
import numpy as np


def read_inputs(model_path):
    """{name: array} of test_data_set_0 beside the model, or None."""
    import onnx
    from onnx import numpy_helper

    folder = model_path.parent / "test_data_set_0"
    if not folder.exists():
        return None
    graph = onnx.load(model_path, load_external_data=False).graph
    initialised = {i.name for i in graph.initializer}
    names = [i.name for i in graph.input]
    fed = [n for n in names if n not in initialised]
    files = sorted(folder.glob("input_*.pb"), key=lambda f: int(f.stem.split("_")[1]))
    feeds = {}
    for k, file in enumerate(files):
        tensor = onnx.load_tensor(file)
        feeds[tensor.name if tensor.name in names else (fed if len(files) == len(fed) else names)[k]] = np.array(numpy_helper.to_array(tensor))
    return {name: array for name, array in feeds.items() if name in fed}


def read_outputs(model_path):
    """What test_data_set_0 beside the model expects, in the model's order, or None."""
    import onnx

    files = sorted((model_path.parent / "test_data_set_0").glob("output_*.pb"), key=lambda f: int(f.stem.split("_")[1]))
    return [np.array(onnx.numpy_helper.to_array(onnx.load_tensor(file))) for file in files] or None


def make_inputs(session):
    """Made-up inputs for an ONNX Runtime session; dynamic dimensions are 1."""
    random = np.random.default_rng(1)
    feeds = {}
    for info in session.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in info.shape]
        kind = info.type[len("tensor("):-1]
        if kind in ("float", "double", "float16"):
            feeds[info.name] = random.uniform(-1, 1, shape).astype({"float": np.float32, "double": np.float64, "float16": np.float16}[kind])
        elif kind in ("uint8", "int8"):
            feeds[info.name] = random.integers(0, 127, shape).astype(kind)
        else:
            feeds[info.name] = random.integers(0, 2, shape).astype(kind)
    return feeds
