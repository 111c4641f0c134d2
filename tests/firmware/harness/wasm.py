"""As much of WebAssembly's binary form as it takes to weigh a module: https://webassembly.github.io/spec/core/binary and, for what an object has besides,
https://github.com/WebAssembly/tool-conventions (Linking.md)."""

CUSTOM, IMPORTS, CODE, DATA = 0, 2, 10, 11
FUNCTION_NAMES, SEGMENTS = 1, 5  # subsections of the sections `name` and `linking`


class Reader:
    def __init__(self, blob, at=0):
        self.blob, self.at = blob, at

    def number(self):
        """LEB128. Signed ones, whose values play no part here, are read like it."""
        value = shift = 0
        while True:
            byte = self.blob[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        size = self.number()
        self.at += size
        return self.blob[self.at - size:self.at].decode()


def sections(blob):
    """(number, name if it is a custom one, reader at its beginning, end) of each."""
    reader = Reader(blob, 8)
    while reader.at < len(blob):
        number = blob[reader.at]
        reader.at += 1
        size = reader.number()
        end = reader.at + size
        inner = Reader(blob, reader.at)
        yield number, inner.text() if number == CUSTOM else "", inner, end
        reader.at = end


def subsections(reader, end):
    while reader.at < end:
        number = reader.number()
        size = reader.number()
        yield number, Reader(reader.blob, reader.at)
        reader.at += size


def functions(blob):
    """{name: bytes of its code} of the functions that the module defines."""
    imported, sizes, names = 0, [], {}
    for number, name, reader, end in sections(blob):
        if number == IMPORTS:
            for _ in range(reader.number()):
                reader.text(), reader.text()
                kind = reader.number()
                imported += kind == 0
                if kind == 0:
                    reader.number()
                elif kind in (1, 2):  # a table's element type; then limits, as a memory's
                    if kind == 1:
                        reader.number()
                    limited = reader.number()
                    reader.number()
                    if limited & 1:
                        reader.number()
                else:
                    reader.at += 2
        elif number == CODE:
            for _ in range(reader.number()):
                size = reader.number()
                sizes.append(size)
                reader.at += size
        elif name == "name":
            for kind, inner in subsections(reader, end):
                if kind == FUNCTION_NAMES:
                    names = {inner.number(): inner.text() for _ in range(inner.number())}
    return {names.get(imported + k, str(k)): size for k, size in enumerate(sizes)}


def segments(blob):
    """[(name, bytes)] of an object's constants and variables."""
    sizes, names = [], []
    for number, name, reader, end in sections(blob):
        if number == DATA:
            for _ in range(reader.number()):
                if reader.number() != 1:  # active: an expression says where
                    reader.number(), reader.number()
                    reader.at += 1
                size = reader.number()
                sizes.append(size)
                reader.at += size
        elif name == "linking":
            reader.number()
            for kind, inner in subsections(reader, end):
                if kind == SEGMENTS:
                    names = [(inner.text(), inner.number(), inner.number())[0] for _ in range(inner.number())]
    return list(zip(names, sizes, strict=True))


def weigh(object_, module):
    """As elf.weigh: code of the module's functions that are a unit's, by their names, and all of the object's data, used or not."""
    sizes = {"text": sum(size for name, size in functions(module.read_bytes()).items() if "unit::" in name or "onnxc::" in name), "rodata": 0, "weights": 0, "data": 0, "bss": 0}
    for name, size in segments(object_.read_bytes()):
        kind = next((kind for kind in ("bss", "data") if name.startswith(f".{kind}")), None)
        named = name.startswith(".rodata.") and not name.startswith((".rodata._ZN5onnxc", ".rodata._ZNK5onnxc", ".rodata._ZZ", ".rodata..L", ".rodata.str", ".rodata.cst"))
        sizes[kind or ("weights" if named else "rodata")] += size
    return sizes
