"""ImageDecoder on images that are made here byte by byte, whose pixels are therefore known, and on damaged ones, which must end in a status.

The formats that are too complex to be made here (JPEG, JPEG 2000, WebP) are those of ONNX's own tests; conformance compares their pixels.
"""
import random
import struct
import sys
import time
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.backend.test.case.node import _image_decoder_data as suite

import onnxc

BAD_VALUE = 9
failures = 0


def session(pixel_format):
    node = helper.make_node("ImageDecoder", ["data"], ["image"], pixel_format=pixel_format)
    inputs = [helper.make_tensor_value_info("data", TensorProto.UINT8, ["n"])]
    outputs = [helper.make_tensor_value_info("image", TensorProto.UINT8, ["h", "w", "c"])]
    model = helper.make_model(helper.make_graph([node], "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    return onnxc.InferenceSession(model)


sessions = {name: session(name) for name in ("RGB", "BGR", "Grayscale")}


def decode(data, pixel_format="RGB"):
    """The pixels, or the status."""
    try:
        return sessions[pixel_format].run(None, {"data": np.frombuffer(bytes(data), np.uint8)})[0]
    except onnxc.RunError as error:
        return error.status


def check(name, right):
    global failures
    if not right:
        failures += 1
        print(f"FAILED  {name}")


def grey(rgb):
    r, g, b = np.moveaxis(rgb.astype(np.uint32), -1, 0)
    return ((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16).astype(np.uint8)[..., None]


def same(a, b):
    return isinstance(a, np.ndarray) and a.dtype == np.uint8 and np.array_equal(a, b)


def good(name, data, rgb):
    rgb = np.asarray(rgb, np.uint8)
    check(name, same(decode(data), rgb))
    check(name + " as BGR", same(decode(data, "BGR"), rgb[..., ::-1]))
    check(name + " as grey", same(decode(data, "Grayscale"), grey(rgb)))


def bad(name, data):
    check(name, isinstance(decode(data), int) and decode(data) == BAD_VALUE)


rng = np.random.default_rng(1)
H, W = 5, 7
pixels = rng.integers(0, 256, (H, W, 3), np.uint8)
grey_pixels = np.repeat(rng.integers(0, 256, (H, W, 1), np.uint8), 3, -1)
palette = rng.integers(0, 256, (256, 3), np.uint8)


# ---- BMP

def bmp(width, height, bits, rows, compression=0, masks=b"", colours=b"", core=False):
    if core:
        header = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(rows), 0, 0, 0, 0)
    offset = 14 + len(header) + len(masks) + len(colours)
    return b"BM" + struct.pack("<IHHI", offset + len(rows), 0, 0, offset) + header + masks + colours + rows


def bmp_rows(rows):
    return b"".join(bytes(row) + bytes(-len(bytes(row)) % 4) for row in rows)


def packed(indices, bits):
    each = 8 // bits
    padded = np.pad(indices, ((0, 0), (0, -indices.shape[1] % each))).reshape(len(indices), -1, each)
    return (padded << (np.arange(each)[::-1] * bits)).sum(-1).astype(np.uint8)


def test_bmp():
    bgr = pixels[:, :, ::-1]
    good("BMP of 24 bits", bmp(W, H, 24, bmp_rows(row.tobytes() for row in bgr[::-1])), pixels)
    good("BMP from the top", bmp(W, -H, 24, bmp_rows(row.tobytes() for row in bgr)), pixels)
    good("BMP of OS/2", bmp(W, H, 24, bmp_rows(row.tobytes() for row in bgr[::-1]), core=True), pixels)
    good("BMP of 32 bits", bmp(W, H, 32, np.dstack([bgr, bgr[:, :, 0]])[::-1].tobytes()), pixels)
    for bits in (1, 4, 8):
        indices = rng.integers(0, 1 << bits, (H, W))
        colours = np.hstack([palette[: 1 << bits, ::-1], np.zeros((1 << bits, 1), np.uint8)]).tobytes()
        good(f"BMP of {bits} bits", bmp(W, H, bits, bmp_rows(row.tobytes() for row in packed(indices, bits)[::-1]), colours=colours), palette[indices])
    words = rng.integers(0, 1 << 16, (H, W)).astype("<u2")
    rows = bmp_rows(row.tobytes() for row in words[::-1])
    split = lambda *fields: np.stack([(words >> shift & ((1 << bits) - 1)).astype(int) * 255 // ((1 << bits) - 1) for shift, bits in fields], -1)
    good("BMP of 16 bits", bmp(W, H, 16, rows), split((10, 5), (5, 5), (0, 5)))
    good("BMP of fields", bmp(W, H, 16, rows, 3, struct.pack("<III", 0xF800, 0x7E0, 0x1F)), split((11, 5), (5, 6), (0, 5)))
    colours = np.hstack([palette[:, ::-1], np.zeros((256, 1), np.uint8)]).tobytes()
    indices = [[0, 7, 7, 0], [1, 2, 3, 0], [9, 9, 9, 9]]
    # A run; three in full; one to the right, two of 7; the end.
    runs = bmp(4, 3, 8, bytes([4, 9, 0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 2, 1, 0, 2, 7, 0, 1]), 1, colours=colours)
    good("BMP of runs", runs, palette[np.array(indices)])
    four = bmp(5, 1, 4, bytes([3, 0x12, 0, 3, 0x34, 0x50, 0, 1]), 2, colours=colours[: 64])
    good("BMP of runs of 4 bits", four, palette[np.array([[1, 2, 1, 3, 4]])])
    check("a run in BMP beyond the image is dropped", isinstance(decode(bmp(4, 3, 8, bytes([9, 9, 0, 1]), 1, colours=colours)), np.ndarray))
    bad("BMP of 5 bits", bmp(W, H, 5, bytes(1000)))
    bad("BMP that is cut off", bmp(W, H, 24, bytes(10)))
    bad("BMP of no height", bmp(W, 0, 24, bytes(100)))
    bad("BMP without its runs", bmp(4, 3, 8, b"\4", 1, colours=colours))
    bad("BMP of 2^31 rows", bmp(1 << 20, -(1 << 31), 8, bytes(100), 1))


# ---- Netpbm

def test_pnm():
    bits = rng.integers(0, 2, (H, W))
    black = np.repeat(((1 - bits) * 255)[..., None], 3, -1)
    good("PBM in text", b"P1 # a comment\n%d %d\n" % (W, H) + b"\n".join(b"".join(b"%d" % b for b in row) for row in bits), black)
    good("PBM", b"P4 %d %d\n" % (W, H) + packed(bits, 1).tobytes(), black)
    good("PGM in text", b"P2 %d %d 255\n" % (W, H) + b" ".join(b"%d" % v for v in grey_pixels[..., 0].ravel()), grey_pixels)
    good("PGM", b"P5\n#x\n%d %d\n255\n" % (W, H) + grey_pixels[..., 0].tobytes(), grey_pixels)
    good("PPM in text", b"P3 %d %d 255\n" % (W, H) + b" ".join(b"%d" % v for v in pixels.ravel()), pixels)
    good("PPM", b"P6 %d %d 255\n" % (W, H) + pixels.tobytes(), pixels)
    deep = rng.integers(0, 1001, (H, W, 3))
    good("PPM of 1000", b"P6 %d %d 1000\n" % (W, H) + deep.astype(">u2").tobytes(), np.round(deep * 255 / 1000))
    good("PPM of 10", b"P6 1 1 10\n" + bytes([1, 3, 10]), [[[26, 76, 255]]])
    for name, data in {"no size": b"P6 ", "too much": b"P5 2 2 70000\n1234", "cut off": b"P6 2 2 255\n123", "letters": b"P2 2 2 9 1 2 x 3", "above the maximum": b"P2 1 1 9 10",
                       "huge": b"P5 2000000000 2000000000 255\n1", "more digits than fit": b"P5 99999999999999999999 1 255\n1"}.items():
        bad("PNM: " + name, data)


# ---- PNG

def png(width, height, bits, colour, rows, *extra):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)) + b"".join(chunk(*e) for e in extra) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def test_png():
    alpha = rng.integers(0, 256, (H, W, 1), np.uint8)
    good("PNG", png(W, H, 8, 2, [row.tobytes() for row in pixels]), pixels)
    good("PNG with alpha", png(W, H, 8, 6, [row.tobytes() for row in np.dstack([pixels, alpha])]), pixels)
    good("PNG of greys", png(W, H, 8, 0, [row.tobytes() for row in grey_pixels[..., 0]]), grey_pixels)
    good("PNG of greys with alpha", png(W, H, 8, 4, [row.tobytes() for row in np.dstack([grey_pixels[..., :1], alpha])]), grey_pixels)
    deep = rng.integers(0, 1 << 16, (H, W, 3)).astype(">u2")
    good("PNG of 16 bits", png(W, H, 16, 2, [row.tobytes() for row in deep]), deep >> 8)
    for bits in (1, 2, 4, 8):
        indices = rng.integers(0, 1 << bits, (H, W))
        rows = [row.tobytes() for row in packed(indices, bits)]
        colours = (b"PLTE", palette[: 1 << bits].tobytes())
        good(f"PNG with a palette of {bits} bits", png(W, H, bits, 3, rows, colours), palette[indices])
        good(f"PNG with a transparent palette of {bits} bits", png(W, H, bits, 3, rows, colours, (b"tRNS", b"\7\0")), palette[indices])
        good(f"PNG of greys of {bits} bits", png(W, H, bits, 0, rows), np.repeat((indices * (255 // ((1 << bits) - 1)))[..., None], 3, -1))
    whole = png(W, H, 8, 2, [row.tobytes() for row in pixels])
    bad("PNG with a wrong sum", whole[:50] + bytes([whole[50] ^ 1]) + whole[51:])
    bad("PNG of 2^31 pixels", png(1 << 16, 1 << 15, 8, 2, [b""]))
    bad("PNG of no width", png(0, 1, 8, 2, [b""]))
    bad("PNG with too few rows", png(W, H, 8, 2, [b"\0" * 3 * W]))


# ---- TIFF, without compression: one strip

def tiff(width, height, data, orientation=1, order="<"):
    tags = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 8), (274, 3, 1, orientation), (277, 3, 1, 3), (278, 4, 1, height), (279, 4, 1, len(data))]
    directory = b"".join(struct.pack(order + "HHI", *tag[:3]) + (struct.pack(order + "HH", tag[3], 0) if tag[1] == 3 else struct.pack(order + "I", tag[3])) for tag in tags)
    return (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8 + len(data)) + data + struct.pack(order + "H", len(tags)) + directory + bytes(4)


def test_tiff():
    good("TIFF", tiff(W, H, pixels.tobytes()), pixels)
    good("TIFF, big-endian", tiff(W, H, pixels.tobytes(), order=">"), pixels)
    turned = [pixels, pixels[:, ::-1], pixels[::-1, ::-1], pixels[::-1], pixels.transpose(1, 0, 2), np.rot90(pixels, -1), pixels[::-1, ::-1].transpose(1, 0, 2), np.rot90(pixels)]
    for k, upright in enumerate(turned):
        good(f"TIFF, orientation {k + 1}", tiff(W, H, pixels.tobytes(), k + 1), upright)
    bad("TIFF that is cut off", tiff(W, H, pixels.tobytes())[:-30])
    bad("TIFF of 2^40 pixels", tiff(1 << 20, 1 << 20, pixels.tobytes()))
    bad("TIFF with too little data", tiff(W, 50 * H, pixels.tobytes()))


# ---- damage

def test_damage():
    bad("nothing", b"")
    bad("a text", b"This is no image at all.")
    for magic in (b"BM", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBP", b"II*\0", b"MM\0*", b"\xff\x4f\xff\x51", b"\0\0\0\x0cjP  \r\n\x87\n", b"P6", b"P1"):
        bad(f"only {magic!r}", magic)
        bad(f"{magic!r} and zeros", magic + bytes(200))
        bad(f"{magic!r} and ones", magic + b"\xff" * 200)
    chance = random.Random(1)
    for name in ("bmp_rgb", "jpeg_rgb", "jpeg2k_rgb", "png_rgb", "pnm_rgb", "tiff_rgb", "webp_rgb"):
        data = getattr(suite, f"image_decoder_decode_{name}").data.tobytes()
        for length in sorted({chance.randrange(len(data) * 3 // 4) for _ in range(20)} | {1, len(data) // 2}):
            bad(f"{name}, the first {length} of {len(data)} bytes", data[:length])
        begin = time.monotonic()
        for k in range(200):
            broken = bytearray(data)
            for _ in range(chance.choice((1, 3, 30))):
                broken[chance.randrange(min(len(data), chance.choice((80, 10**6))))] = chance.choice((0, 255, chance.randrange(256)))
            result = decode(broken, chance.choice(("RGB", "BGR", "Grayscale")))
            check(f"{name} with broken bytes, {k}", not isinstance(result, int) or result == BAD_VALUE)
        check(f"{name}: broken images take long", time.monotonic() - begin < 60)


for test in (test_bmp, test_pnm, test_png, test_tiff, test_damage):
    test()
print("images: all right" if failures == 0 else f"images: {failures} failed")
sys.exit(failures != 0)
