"""Use: large models, small budgets, options."""
import numpy as np
from onnx import TensorProto as T

from .case import BUDGET, INVALID, IO, USAGE, case
from .models import good, model, node, tensor, value


# ---- size


@case(0, name="a chain of 100,000 nodes")
def long_chain():
    nodes = [node("Relu" if k % 2 else "Sigmoid", ["x" if k == 0 else f"v{k - 1}"], [f"v{k}"]) for k in range(99_999)]
    return model([*nodes, node("Relu", ["v99998"], ["y"])])


@case(0, name="a chain of 20,000 matrix products")
def long_product():
    nodes = [node("MatMul", ["x" if k == 0 else f"v{k - 1}", "w"], [f"v{k}"]) for k in range(20_000)]
    return model([*nodes, node("Relu", ["v19999"], ["y"])], weights=[tensor("w", np.eye(3))])


@case(0, name="20,000 constants")
def many_constants():
    nodes = [node("Add", ["x" if k == 0 else f"v{k - 1}", f"w{k}"], [f"v{k}"]) for k in range(20_000)]
    return model([*nodes, node("Relu", ["v19999"], ["y"])], weights=[tensor(f"w{k}", np.full((2, 3), k)) for k in range(20_000)])


@case(0, name="a value with 20,000 uses")
def wide():
    nodes = [node("Relu", ["x"], ["t"])] + [node("Exp", ["t"], [f"v{k}"]) for k in range(20_000)]
    sums = [node("Add", ["v0" if k == 0 else f"s{k - 1}", f"v{k}"], [f"s{k}"]) for k in range(20_000)]
    return model([*nodes, *sums, node("Relu", ["s19999"], ["y"])])


@case(0, name="a fan of 20,000 branches")
def fan():
    nodes = [node("MatMul", ["x", f"w{k % 50}"], [f"v{k}"], name=f"m{k}") for k in range(20_000)]
    sums = [node("Max", ["v0" if k == 0 else f"s{k - 1}", f"v{k}"], [f"s{k}"]) for k in range(20_000)]
    return model([*nodes, *sums, node("Relu", ["s19999"], ["y"])], weights=[tensor(f"w{k}", np.eye(3) * k) for k in range(50)])


# ---- usage


@case(BUDGET, "arena", options=["--max-arena", "100"], code="E0901")
def small_budget():
    nodes = [node("MatMul", ["x", "w"], ["t"]), node("MatMul", ["t", "w"], ["y"])]
    return model(nodes, [value("x", (30, 30))], [value("y", (30, 30))], [tensor("w", np.ones((30, 30)))])


@case(BUDGET, "'t' (", options=["--max-arena", "1K"])
def small_budget_names_what_lives():
    return small_budget()


@case(BUDGET, "'w' (", options=["--max-weights", "3000"], code="E0903")
def small_budget_of_weights():
    return small_budget()


def chain_of_any_batch():
    nodes = [node("MatMul", ["x", "w"], ["t"]), node("MatMul", ["t", "w"], ["y"])]
    return model(nodes, [value("x", ("batch", 30))], [value("y", ("batch", 30))], [tensor("w", np.ones((30, 30)))])


@case(BUDGET, "'batch'", "no upper bound", "--dim 'batch=1..MAX'", options=["--max-arena", "1M"], code="E0902")
def budget_without_a_bound():
    return chain_of_any_batch()


@case(BUDGET, "up to 1200", "'t' (", options=["--max-arena", "100K", "--dim", "batch=1..1000"])
def budget_at_the_upper_bound():
    return chain_of_any_batch()


@case(0, options=["--max-arena", "121K", "--dim", "batch=1..1000"])
def budget_that_suffices_at_the_upper_bound():
    return chain_of_any_batch()


for text, says in {"fast": "no name and size", "fast:": "no name and size", ":8K": "no name and size", "fast:0": "0 bytes", "fast:8Q": "'8Q' is no size", "fast:-1": "is no size",
                   "fast:8K:const": "needs a section", "fast:8K:.f:flash": "is not `const`", "fast:8K:.f:const:x": "no name and size", "fast:8K:a/b": "cannot be the name of a section",
                   "stack:8K": "choose another name", "fast:8K:.a,b": "cannot be the name of a section", "fast:8K:.bss": "cannot lie in .bss", "fast:8K:.text.hot:const": "cannot lie in",
                   "fast:18446744073709551615": "so much memory", "fast-1:8K": "call it fast_1"}.items():

    @case(USAGE, f"--region {text}", says, options=["--region", text], name=f"region {text}", code="E0506")
    def bad_region():
        return small_budget()


@case(USAGE, "two regions are called fast_1", options=["--region", "fast_1:8K", "--region", "fast_1:64K"], code="E0506")
def regions_of_one_name():
    return small_budget()


@case(BUDGET, "no region has room for 't'", "the regions hold 1000", "see --region", options=["--region", "fast:500", "--region", "slow:500", "--region", "flash:1M:.q:const"], code="E0905")
def regions_that_are_too_small():
    return small_budget()


@case(0, options=["--region", "fast:1K:.fast", "--region", "slow:8K"])
def regions_that_suffice():
    return small_budget()


@case(INVALID, "'batch'", "--dim 'batch=", options=["--region", "fast:64K"], code="E0405")
def regions_and_an_unknown_size():
    return chain_of_any_batch()


@case(USAGE, "memories of processors", options=["--region", "fast:64K", "--target=cuda-sm80"])
def regions_of_a_gpu():
    return small_budget()


@case(USAGE, "--huge-pages", "leave one of them out", options=["--region", "fast:64K", "--huge-pages"], code="E0503")
def regions_and_huge_pages():
    return small_budget()


@case(USAGE, "'class'", "a word of C++", "--namespace=model_class would do", options=["--namespace", "class"], code="E0509")
def namespace_is_a_keyword():
    return good()


@case(USAGE, "'a-b'", "no identifier", "--namespace=a_b would do", options=["--namespace", "a-b"])
def namespace_is_no_identifier():
    return good()


@case(0, options=["--namespace", "small"])
def namespace_that_is_a_macro_elsewhere():
    return good()


@case(USAGE, "run on a GPU", "generic", options=["--target", "generic", "--devices=gpu"], code="E0406")
def devices_of_a_processor():
    return small_budget()


@case(USAGE, "run on a GPU", options=["--gpu-memory", "1G"])
def memory_of_no_gpu():
    return small_budget()


@case(USAGE, options=["--target", "pdp11"], code="E0501")
def unknown_target():
    return good()


@case(USAGE, options=["--weights", "papyrus"])
def unknown_weights_form():
    return good()


@case(USAGE, options=["--dim", "batch=many"], code="E0504")
def bad_dim():
    return good()


@case(USAGE, options=["--dim", "batch=5..1"], code="E0504")
def empty_dim():
    return good()


@case(USAGE, options=["--no-such-option"], code="E0501")
def unknown_option():
    return good()


@case(IO, options=["-o", "/nonexistent/folder/model.cpp"], code="E0601")
def no_such_output_folder():
    return good()


@case(INVALID, "'y' cannot be the state behind 'x': they are f32[2, 3] and f64[2, 3]", "leave it out of --state", options=["--state", "x=y"], code="E0404")
def state_of_another_type():
    return model([node("Cast", ["x"], ["y"], to=T.DOUBLE)], outputs=[value("y", (2, 3), T.DOUBLE)])


@case(INVALID, "'y' cannot be the state behind 'x': they are f32[2, 3] and f32[2, 3, 1]", options=["--state", "x=y"])
def state_of_another_rank():
    return model([node("Unsqueeze", ["x", "axis"], ["y"])], outputs=[value("y", (2, 3, 1))], weights=[tensor("axis", [2], np.int64)])
