"""Random operators and Dropout: what holds of every outcome."""
import numpy as np
from onnx import TensorProto as T

from harness import check, numbers

flag = lambda v: np.array(v, np.bool_)
ratio = lambda v, t=np.float32: np.array(v, t)


def near(what, got, expected, by):
    return "" if abs(got - expected) <= by else f"{what} is {got}, not {expected}"


for dtype, code in ((np.float32, T.FLOAT), (np.float64, T.DOUBLE), (np.float16, T.FLOAT16)):
    out = {0: code}

    def uniform(y, dtype=dtype):
        y = y.astype(np.float64)
        if y.shape != (50, 40) or y.min() < -1 or y.max() >= 3:
            return f"shape {y.shape}, range {y.min()} {y.max()}"
        return near("the mean", y.mean(), 1, 0.12) or near("the variance", y.var(), 16 / 12, 0.12)

    def normal(y):
        y = y.astype(np.float64)
        return near("the mean", y.mean(), 2, 0.05) or near("the deviation", y.std(), 0.5, 0.03)

    for seed in ({}, {"seed": 3.0}):
        name = f"{np.dtype(dtype)} {seed}"
        check(f"RandomUniform {name}", "RandomUniform", [], dict(low=-1.0, high=3.0, shape=[50, 40], dtype=code, **seed), out_types=out, verify=uniform)
        check(f"RandomNormal {name}", "RandomNormal", [], dict(mean=2.0, scale=0.5, shape=[50, 40], dtype=code, **seed), out_types=out, verify=normal)
        check(f"RandomUniformLike {name}", "RandomUniformLike", [numbers(50, 40, dtype=dtype)], dict(low=-1.0, high=3.0, **seed), out_types=out, verify=uniform)
        check(f"RandomNormalLike {name}", "RandomNormalLike", [np.zeros((50, 40), np.int32)], dict(mean=2.0, scale=0.5, dtype=code, **seed), out_types=out, verify=normal)
    p = np.repeat(np.array([[0, 0.25, 0.5, 1]], dtype), 1000, 0)

    def coins(y):
        return next(filter(None, (near(f"mean {k}", y[:, k].astype(np.float64).mean(), q, 0 if q in (0, 1) else 0.06) for k, q in enumerate((0, 0.25, 0.5, 1)))), "")

    check(f"Bernoulli {np.dtype(dtype)}", "Bernoulli", [p], out_types=out, verify=coins)
    check(f"Bernoulli to bool {np.dtype(dtype)}", "Bernoulli", [p], dict(dtype=T.BOOL, seed=1.0), out_types={0: T.BOOL}, verify=coins)

    for constants in ({1, 2}, {1}, {2}, ()):
        for r in (0.0, 0.3, 0.75):
            x = (numbers(60, 50, dtype=dtype) + np.sign(numbers(60, 50, seed=1)).astype(dtype)).astype(dtype)
            x[x == 0] = 1

            def dropped(y, mask, r=r, x=x):
                kept = np.where(mask, x.astype(np.float64) / (1 - r), 0)
                if not np.allclose(y.astype(np.float64), kept, rtol=2e-3):
                    return "y is not x / (1 - ratio) where the mask is set, and 0 elsewhere"
                return near("the share that is kept", mask.mean(), 1 - r, 0 if r == 0 else 0.04)

            check(f"Dropout {np.dtype(dtype)} {r} constants {constants}", "Dropout", [x, ratio(r, dtype), flag(True)], outputs=2, constants=constants,
                  out_types={0: code, 1: T.BOOL}, verify=dropped)
        check(f"Dropout {np.dtype(dtype)} at inference {constants}", "Dropout", [x, ratio(0.5, dtype), flag(False)], dict(seed=4), outputs=2, constants=constants,
              expect=[x, np.ones(x.shape, bool)], rtol=0, atol=0)

logits = np.log(np.array([[0.1, 0.2, 0.7], [5, 5, 0]], np.float32) + 1e-30)


def samples(y):
    if y.shape != (2, 3000) or y.min() < 0 or y.max() > 2:
        return f"shape {y.shape}, range {y.min()} {y.max()}"
    counts = [[(row == c).mean() for c in range(3)] for row in y]
    return "" if np.abs(np.array(counts) - [[0.1, 0.2, 0.7], [0.5, 0.5, 0]]).max() < 0.04 else f"shares {counts}"


check("Multinomial", "Multinomial", [logits], dict(sample_size=3000), out_types={0: T.INT32}, verify=samples)
check("Multinomial i64", "Multinomial", [logits.astype(np.float64)], dict(sample_size=3000, dtype=T.INT64, seed=2.0), constants={0}, out_types={0: T.INT64}, verify=samples)
check("RandomUniform of i32", "RandomUniform", [], dict(shape=[2], dtype=T.INT32), refused="not f16, bf16, f32 or f64", out_types={0: T.INT32})
