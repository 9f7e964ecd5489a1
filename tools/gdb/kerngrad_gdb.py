# SPDX-License-Identifier: Apache-2.0
"""How gdb shows kerngrad's tensors and shapes: `print x` is `tensor float32 [2, 2] [[1, 2], [3, 4]]`.

Installed where gdb looks for what belongs to libkerngrad, it is loaded with the library; elsewhere by `source`. It
reads memory and calls no function of the program, so it works on a core file too. `set print elements` limits it.
"""
import math
import struct

import gdb
import gdb.printing

# The dtypes in the order of KG_DTYPES (kernels/common/abi.h), which is that of their numbers: the name, how Python's
# struct reads an element, and how that is written.
NUMBER = '{:g}'.format
DTYPES = [
    ('float32', 'f', NUMBER), ('float64', 'd', NUMBER), ('int32', 'i', str), ('int64', 'q', str), ('uint8', 'B', str),
    ('bool', '?', lambda value: str(value).lower()), ('complex64', 'ff', lambda *parts: complex_text(*parts)),
    ('float16', 'e', NUMBER), ('bfloat16', 'H', lambda bits: NUMBER(upper_half_of_float(bits))),
    ('complex128', 'dd', lambda *parts: complex_text(*parts)), ('text', 'Q', lambda place: text_at(place)),
    ('int8', 'b', str), ('int16', 'h', str), ('uint16', 'H', str), ('uint32', 'I', str),
]
# kerngrad::detail::buffer up to `data`, by its layout, which the test holds: the debug information of a program seldom
# has more of it than its name. References, dtype, form, bytes, eight sizes, their product, rank, data.
BUFFER = struct.Struct('@iBBIq8qqiP')


def upper_half_of_float(bits):
    return struct.unpack('f', struct.pack('I', bits << 16))[0]


def complex_text(real, imag):
    sign = '-' if math.copysign(1, imag) < 0 else '+'
    return f'{NUMBER(real)}{sign}{NUMBER(abs(imag))}i'


def text_at(place):
    memory = gdb.selected_inferior()
    if not place:
        return '""'
    size = struct.unpack('Q', memory.read_memory(place, 8))[0]
    most = gdb.parameter('print elements') or size
    text = bytes(memory.read_memory(place + 8, min(size, most))).decode(errors='replace')
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"' + ('...' if size > most else '')


def sizes_of(shape):
    return [int(shape['dims_'][i]) for i in range(int(shape['rank_']))]


def rows_text(texts, sizes):
    """The texts, an iterator, in the brackets of the axes."""
    if not sizes:
        return next(texts)
    return '[' + ', '.join(rows_text(texts, sizes[1:]) for _ in range(sizes[0])) + ']'


class Shape:
    """kg::shape: [2, 3]."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        return str(sizes_of(self.value))


class Tensor:
    """kg::tensor: dtype, shape and elements."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        if not int(self.value['buffer_']):
            return 'tensor (undefined)'
        memory = gdb.selected_inferior()
        _, dtype, _, _, _, *sizes, _, rank, address = BUFFER.unpack(
            memory.read_memory(int(self.value['buffer_']), BUFFER.size))
        sizes = sizes[:rank]
        if dtype >= len(DTYPES):
            return f'tensor {sizes}'
        name, form, text = DTYPES[dtype]
        head = f'tensor {name} {sizes}'
        if not address:
            return head + ' (its elements are in the storage of a backend)'
        count = math.prod(sizes)
        shown = min(count, gdb.parameter('print elements') or count)
        size = struct.calcsize('=' + form)
        data = bytes(memory.read_memory(address, shown * size)) if shown else b''
        texts = [text(*element) for element in struct.iter_unpack('=' + form, data)]
        if shown < count:
            return f'{head} [{", ".join(texts)}, ...]'
        return head + ' ' + (rows_text(iter(texts), sizes) if count else '[]')


def printers():
    all_of = gdb.printing.RegexpCollectionPrettyPrinter('kerngrad')
    all_of.add_printer('tensor', '^kerngrad::tensor$', Tensor)
    all_of.add_printer('shape', '^kerngrad::shape$', Shape)
    return all_of


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
