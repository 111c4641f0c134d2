"""What random models found (tests/hostile/graphs): each was answered wrongly, refused or crashed once."""
import numpy as np

from case import Case, f32, i64, values

# The interface states room for as many elements as the general program may find, not as many as a variant may.
Case("elements that a run counts, with a variant for one size", "g (float[N, M] x) => (int64[2, k] y) { y = NonZero (x) }",
     [({"x": np.full((n, m), v, np.float32)}, [np.stack(np.nonzero(np.full((n, m), v)))]) for n, m, v in ((2, 3, 1), (40, 50, 1), (5, 5, 0))], options=["--specialize=N=2", "--specialize=M=3"])

# A quantised value that becomes one of u8 no longer has the type that the model states of it.
for stated in ("", ", int8[2, 3] q"):
    Case(f"a stated type of a quantised value{stated}", f"""g (float[2, 3] x) => (float[2, 3] y) <float scale = {{0.5}}, int8 zero = {{3}}{stated}> {{
      q = QuantizeLinear (x, scale, zero)  y = DequantizeLinear (q, scale, zero) }}""",
         [({"x": f32([[-1, 0.5, 2], [4.25, -70, 70]])}, [f32([[-1, 0.5, 2], [4, -65.5, 62]])])])

# Scales of 1 that become constants late.
Case("a Resize that changes nothing after all", """g (float[N, 5, 1] x) => (float[a, b, c] y) {
  t = Dropout (ones)  y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "ceil"> (x, , t) }""",
     [({"x": (x := values(n, 5, 1))}, [x]) for n in (1, 3)], {"ones": f32([1, 1, 1])})

# With ceil_mode the last window may reach out, and the first one may be the last.
Case("a window that reaches out of its axis", "g (float[1, 1, 4] x) => (float[1, 1, b] y) { y = MaxPool <kernel_shape = [3], dilations = [2], strides = [2], ceil_mode = 1> (x) }",
     [({"x": f32([[[1, 5, 3, 9]]])}, [f32([[[3]]])])])

# A Pad whose pads a run knows, named by a copy of them that simplification removes; no later pass finds the names again.
for limit in (4, 5):
    Case(f"pads behind a copy, {limit} passes", "g (float[2] x, int64[2] p) => (float[k] y) { q = Identity (p)  y = Pad (x, q) }",
         [({"x": f32([1, 2]), "p": np.int64([1, 2])}, [f32([0, 1, 2, 0, 0])])], options=[f"--opt-bisect-limit={limit}"])

# Planes of two images have no form for a value of each channel.
for images, size in ((2, 2), (2, 6), (1, 2)):
    Case(f"a value of each channel after pooling {images} images of {size}", f"g (float[{images}, 2, {size}, {size}] x) => (float[a, b, d, e] y) {{ v = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)  y = Add (v, c) }}",
         [({"x": (x := values(images, 2, size, size))}, [x.reshape(images, 2, size // 2, 2, size // 2, 2).max(axis=(3, 5)) + f32([[[[0.5]], [[-1]]]])])], {"c": f32([[[[0.5]], [[-1]]]])})

# The number along one axis is a run's input, which may be negative, and along the other a count.
Case("slices of as many as a run says", """g (int32[2, 3, 1, 4] x, int64[1] k) => (int64[a, b, c, d] y) { v, i = TopK (x, k)  y = Compress <axis = 1> (i, keep) }""",
     [({"x": np.arange(24, dtype=np.int32).reshape(2, 3, 1, 4), "k": i64([n])}, [np.broadcast_to(i64([3, 2, 1, 0][:n]), (2, 2, 1, n))]) for n in (1, 3)], {"keep": np.array([True, False, True])})
