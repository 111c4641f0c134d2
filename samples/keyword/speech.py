"""Clips of one second at 16 kHz to train with: words by espeak-ng in many voices, with what a microphone would add.

The voices are those of a synthesiser, in seven accents of English. What is learnt from them is not what people say.
"""
import re
import subprocess

import numpy as np

RATE = 16000
WORDS = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
LABELS = WORDS + ["unknown", "silence"]
UNKNOWN, SILENCE = LABELS.index("unknown"), LABELS.index("silence")
# Words that are none of these: some sound alike, some do not. The second list is not trained with.
OTHERS = """one two three four five six seven eight nine ten bed bird cat dog happy house tree wow learn forward follow visual yet guess chess nose note snow
    cup cap town brown lift loft laugh light ride rate own arm of often step shop stock top goat gold dough low hello please turn open close start next""".split()
OTHERS_TO_TEST = "zero marvin sheila backward apple water music window best noon crown lately white orange coffee stuff goal knowing".split()
# And words that mean nothing, of a beginning, a vowel and an end, so that there is no end of them. These would sound like one of the ten.
BEGINNINGS, VOWELS, ENDS = "b bl d dr f fl g gr h j k kl l m n p pr r s sh sk sn st t th tr v w y z".split(), "a e i o u ee oo ay ow oy ar er".split(), "b d f g k l m n p s t th v x z nd st lt mp".split()
TOO_LIKE = "yes|now|noo|noe|up|doun|down|left|lef|rit|on|of|stop|stob|go"
ACCENTS = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-029"]


def voices():
    """The synthesiser's voices of persons, in a fixed order: those to train with, and those to test with. Families such as m1 to m8 stay together."""
    listed = subprocess.run(["espeak-ng", "--voices=variant"], check=True, capture_output=True, text=True).stdout
    names = sorted(re.findall(r"!v/(.*?)\s*(?:\(.*)?$", listed, re.MULTILINE))
    names = [name for name in names if not re.search("(?i)robo|whisper|fast|announcer|demonic|kauko|croak", name)]
    families = sorted({name.rstrip("0123456789") for name in names})
    to_test = families[2::4]
    return [name for name in names if name.rstrip("0123456789") not in to_test], [name for name in names if name.rstrip("0123456789") in to_test]


def say(word, voice, accent, speed, pitch, size=1):
    """The word's samples in [-1, 1], without the silence around it. Speed in words a minute, pitch from 0 to 99; a throat of another size speaks lower and slower."""
    wav = subprocess.run(["espeak-ng", "--stdout", "-v", f"{accent}+{voice}", "-s", str(speed), "-p", str(pitch), word], check=True, capture_output=True).stdout
    rate, at = int.from_bytes(wav[24:28], "little"), wav.index(b"data") + 8
    sound = np.frombuffer(wav[at : at + (len(wav) - at) // 2 * 2], "<i2") / 32768
    length = int(len(sound) * RATE * size / rate)
    spectrum = np.fft.rfft(sound)[: length // 2 + 1]  # what is above 8 kHz goes
    sound = np.fft.irfft(spectrum, length) * length / len(sound)
    loud = np.nonzero(np.abs(sound) > 0.02 * np.abs(sound).max())[0]
    return sound[loud[0] : loud[-1] + 1].astype(np.float32)


def made_up(count, random):
    """Words of one or two syllables that none of WORDS is part of."""
    found = []
    while len(found) < count:
        word = "".join(random.choice(BEGINNINGS) + random.choice(VOWELS) + (random.choice(ENDS) if random.random() < 0.8 else "") for _ in range(random.integers(1, 3)))
        if not re.search(TOO_LIKE, word):
            found.append(word)
    return found


def utterances(words, chosen, count, sizes, random):
    """`count` of each word, by the voices in turn, in all accents, with throats of `sizes`, from the least to the largest: [(word, samples)]."""
    found = []
    for word in words:
        voices_in_turn = np.concatenate([random.permutation(len(chosen)) for _ in range(-(-count // len(chosen)))])[:count]
        for voice in voices_in_turn:
            accent = ACCENTS[random.integers(len(ACCENTS))]
            sound = say(word, chosen[voice], accent, int(random.integers(120, 230)), int(random.integers(15, 85)), random.uniform(*sizes))
            found.append((word, sound[: RATE - 1600]))
    return found


def noise(random):
    """A second of noise of some colour, with a mean square of 1."""
    spectrum = np.fft.rfft(random.standard_normal(RATE)) / np.maximum(np.arange(RATE // 2 + 1), 20) ** random.uniform(0, 1.2)
    if random.random() < 0.3:  # hum
        base = int(random.uniform(40, 130))
        spectrum[base : 12 * base : base] *= random.uniform(3, 30)
    sound = np.fft.irfft(spectrum, RATE)
    if random.random() < 0.3:  # that comes and goes
        sound *= np.interp(np.arange(RATE), np.arange(0, RATE + 1, 2000), random.uniform(0, 1, 9)) ** 2
    return sound / np.sqrt(np.mean(sound**2) + 1e-12)


def place(scene, sound, start):
    """Adds what of the sound lies in the scene when it starts there, which may be before it."""
    first, last = max(start, 0), min(start + len(sound), len(scene))
    if first < last:
        scene[first:last] += sound[first - start : last - start]


def in_a_room(sound, random):
    """With echoes that hold up to half of the energy."""
    length = int(random.uniform(0.03, 0.24) * RATE)
    response = random.standard_normal(length) * np.exp(-5 * np.arange(length) / length)
    response *= np.sqrt(random.uniform(0.05, 0.5) / np.sum(response**2))
    response[0] = 1
    both = RATE + 4000
    return np.fft.irfft(np.fft.rfft(sound, both) * np.fft.rfft(response, both))[:RATE]


def scene(sounds, pick, noises, random):
    """A clip [16000] of int16 with what utterance `pick` says, and its label. Noise alone if `pick` is None."""
    clip = np.zeros(RATE)
    if pick is None:
        label = SILENCE
    else:
        word, sound = sounds[pick]
        label = WORDS.index(word) if word in WORDS else UNKNOWN
        start = int(random.integers(0, RATE - len(sound) + 1))
        if label != UNKNOWN and random.random() < 0.06:  # less than half of it, at an edge of the second: not to be guessed
            visible = int(len(sound) * random.uniform(0.2, 0.45))
            start = RATE - visible if random.random() < 0.5 else visible - len(sound)
            label = UNKNOWN
        else:
            for room, before in ((start, True), (RATE - start - len(sound), False)):  # what was said before and will be said next: less than half of it
                _, other = sounds[random.integers(len(sounds))]
                visible = int(min(room - 3000, 0.45 * len(other)) * random.uniform(0.2, 1))
                if visible > 0 and random.random() < 0.3:
                    place(clip, other * random.uniform(0.4, 1), visible - len(other) if before else RATE - visible)
        place(clip, sound, start)
        if random.random() < 0.4:
            clip = in_a_room(clip, random)
        if random.random() < 0.5:  # a microphone or a speaker that favours low or high
            tilt = random.uniform(-0.7, 0.7)
            clip = clip + tilt * np.concatenate([[0], clip[:-1]])
        clip *= np.exp(random.uniform(np.log(0.05), np.log(0.9))) / np.abs(clip).max()
    level = np.sqrt(np.mean(clip**2)) if label != SILENCE else np.exp(random.uniform(np.log(3e-5), np.log(0.1)))
    quiet = random.uniform(8, 45) if label != SILENCE else 0  # dB below the word
    if random.random() < 0.85:
        clip = clip + np.roll(noises[random.integers(len(noises))], random.integers(RATE)) * level * 10 ** (-quiet / 20)
    return np.round(np.clip(clip, -1, 1) * 32767).astype(np.int16), label


def scenes(sounds, silent, random):
    """A clip of each utterance and `silent` of noise, in a drawn order: clips [n, 16000], labels [n]."""
    noises = [noise(random) for _ in range(300)]
    made = [scene(sounds, pick if pick < len(sounds) else None, noises, random) for pick in random.permutation(len(sounds) + silent)]
    return np.stack([clip for clip, _ in made]), np.array([label for _, label in made])
