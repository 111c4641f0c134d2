#!/usr/bin/env python3
"""The features of samples/keyword beside the same by numpy, from their definition and in doubles.

  tests/keyword/check_features.py LIBRARY     LIBRARY: samples/keyword/features.cpp, compiled as a shared one
"""
import ctypes
import sys

import numpy as np

# The transform rounds in floats to 1e-7 of the loudest wave. Of quiet bands beside a loud tone this is the larger part, and logarithms show it.
TOLERANCE = 3e-4
RATE, HOP, WINDOW, FRAMES, BANDS, COEFFICIENTS = 16000, 320, 480, 49, 40, 10


def reference(clip):
    """Frames [49, 10] at the end of a clip, which silence precedes."""
    padded = np.concatenate([np.zeros(RATE), clip / 32768.0])
    windows = np.stack([padded[len(padded) - WINDOW - HOP * i :][:WINDOW] for i in reversed(range(FRAMES))])
    hann = np.sin(np.pi * (np.arange(WINDOW) + 0.5) / WINDOW) ** 2
    power = np.abs(np.fft.rfft(windows * hann, 512)) ** 2
    mel = lambda hertz: 1127 * np.log1p(np.asarray(hertz) / 700)
    edges = np.linspace(mel(60), mel(7800), BANDS + 2)
    bins = mel(np.arange(257) * RATE / 512)
    triangles = np.stack([np.interp(bins, edges[b : b + 3], [0, 1, 0]) for b in range(BANDS)])
    levels = np.log(power @ triangles.T + 1e-5) + 5
    waves = np.cos(np.pi * np.outer(np.arange(COEFFICIENTS), np.arange(BANDS) + 0.5) / BANDS)
    weights = np.append(0.25, 1 + 0.5 * np.arange(1, COEFFICIENTS))
    return levels @ waves.T / BANDS * weights


def clips():
    """Of every kind that might go wrong: silence, one sample, tones at the ends of the scale, noise at all levels, clipping."""
    random = np.random.default_rng(1)
    time = np.arange(RATE) / RATE
    yield "silence", np.zeros(RATE)
    yield "the last sample", np.eye(1, RATE, RATE - 1)[0] * 32767
    for hertz in (50, 440, 1234.5, 7799, 8000):
        yield f"a tone of {hertz} Hz", 20000 * np.sin(2 * np.pi * hertz * time)
    for loud in (1, 30, 1000, 30000):
        yield f"noise of {loud}", random.uniform(-loud, loud, RATE)
    yield "all -32768", np.full(RATE, -32768)
    yield "full scale", random.choice([-32768, 32767], RATE)
    yield "a sweep that grows", 32767 * time * np.sin(2 * np.pi * 4000 * time**2)


def main():
    library = ctypes.CDLL(sys.argv[1])
    worst = 0
    for name, values in clips():
        clip = np.round(values).astype(np.int16)
        found = np.full((FRAMES, COEFFICIENTS), np.nan, np.float32)
        library.features_of_clips(clip.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(1), found.ctypes.data_as(ctypes.c_void_p))
        error = np.abs(found - reference(clip)).max()
        if not error < TOLERANCE:
            print(f"{name}: a feature differs by {error:.2g}")
            return 1
        worst = max(worst, error)
    print(f"features: within {worst:.1g} of numpy's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
