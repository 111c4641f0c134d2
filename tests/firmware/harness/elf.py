"""As much of ELF as it takes to weigh an object: sections and symbols, of 32 and 64 bits, of either order of bytes."""
import re
import struct
from dataclasses import dataclass

WRITE, ALLOC, EXECUTE = 1, 2, 4
NOBITS, SYMBOLS, DATA_OBJECT = 8, 2, 1
PARAMETERS = re.compile(r"GLOBAL__N_1\d+Params\d+5valueI")  # the constants of codegen/constant_args.h
UNWINDING = (".eh_frame", ".ARM.exidx", ".ARM.extab")


@dataclass(frozen=True)
class Section:
    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int


@dataclass(frozen=True)
class Symbol:
    name: str
    value: int
    size: int
    type: int
    section: int  # 0: not defined here


def text_at(blob, at):
    return blob[at:blob.index(b"\0", at)].decode()


class Elf:
    def __init__(self, path):
        self.blob = path.read_bytes()
        if self.blob[:4] != b"\x7fELF":
            raise ValueError(f"{path} is not an ELF file")
        self.wide, self.order = self.blob[4] == 2, "<" if self.blob[5] == 1 else ">"
        at, = self.unpack("Q" if self.wide else "I", 0x28 if self.wide else 0x20)
        size, count, names = self.unpack("HHH", 0x3A if self.wide else 0x2E)
        fields = [self.unpack("IIQQQQI" if self.wide else "IIIIIII", at + k * size) for k in range(count)]  # name, type, flags, address, offset, size, link
        table = fields[names][4]
        self.sections = [Section(text_at(self.blob, table + name), kind, flags, offset, bytes_, link) for name, kind, flags, _, offset, bytes_, link in fields]

    def unpack(self, form, at):
        return struct.unpack_from(self.order + form, self.blob, at)

    def symbols(self):
        for table in self.sections:
            if table.type != SYMBOLS:
                continue
            strings = self.sections[table.link].offset
            for at in range(table.offset, table.offset + table.size, 24 if self.wide else 16):
                if self.wide:
                    name, info, _, section, value, size = self.unpack("IBBHQQ", at)
                else:
                    name, value, size, info, _, section = self.unpack("IIIBBH", at)
                yield Symbol(text_at(self.blob, strings + name), value, size, info & 15, section)

    def address(self, name):
        """Of a function; the bit that tells Thumb code is not part of it."""
        return next(symbol.value & ~1 for symbol in self.symbols() if symbol.name == name)


def weigh(path):
    """Bytes that an object adds to a program, by kind. Weights are the constants that have a name outside of the runtime's namespace and outside of functions,
    and are no parameters of steps; `rodata` is the other constants."""
    elf = Elf(path)
    weights = sum(symbol.size for symbol in elf.symbols()
                  if symbol.type == DATA_OBJECT and 0 < symbol.section < len(elf.sections) and elf.sections[symbol.section].flags & (WRITE | ALLOC) == ALLOC
                  and not symbol.name.startswith(("_ZN5onnxc", "_ZNK5onnxc", "_ZZ")) and not PARAMETERS.search(symbol.name))
    sizes = {"text": 0, "rodata": -weights, "weights": weights, "data": 0, "bss": 0}
    for section in elf.sections:
        if not section.flags & ALLOC or section.name.startswith(UNWINDING):
            continue
        kind = "text" if section.flags & EXECUTE else "bss" if section.type == NOBITS else "data" if section.flags & WRITE else "rodata"
        sizes[kind] += section.size
    return sizes
