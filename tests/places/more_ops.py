# SPDX-License-Identifier: Apache-2.0
"""Two ops more for a copy of the library, and all that they take.

An elementwise op takes five lines: row, kernel, reference, rule, typed name. An op with two results and a calling
convention of its own, in a family of its own, takes its files and one word in a list. No other file changes.
"""
import pathlib
import re
import sys

# File -> a line of it before which the new one goes, and that.
TANH_EXP = {
    'modules/ops/elementwise/rows.cc':
        ('    unary_row("Silu",', '    unary_row("TanhExp", "x * tanh(exp(x)) (Liu and Di 2020).", 40),'),
    'kernels/elementwise/unary.h':
        ('  X(LONG, Silu,', '  X(LONG, TanhExp, KG_FLOATS, hn::Mul(x, Tanh(d, Exp(d, x)))) \\'),
    'kernels/elementwise/reference_unary.cc':
        ('KG_WIDE(Silu,',
         'KG_WIDE(TanhExp, x * std::tanh(std::exp(x)))'),
    'grads/elementwise.cc':
        ('    rule<"Silu">', '''    rule<"TanhExp">(wrt(keep::in0,
                        [](const auto& c) {
                          const auto gate = tanh(exp(c.in(0)));
                          return c.dy() * (gate + c.in(0) * (exp(c.in(0)) * (1 - square(gate))));
                        })),'''),
    'modules/ops/elementwise/names.cc':
        ('KG_ONE_OPERAND(silu,', 'KG_ONE_OPERAND(tanh_exp, "TanhExp")'),
}
FAMILY = 'rank'


def inserted(text, file, before, new):
    at = text.find('\n' + before)
    if at < 0:
        sys.exit(f'{file} has no line that begins with {before}')
    return text[:at + 1] + new + '\n' + text[at + 1:]


def added_to(library):
    """The files of the library, name -> bytes, with the ops: TanhExp in its places, the family's files and its name."""
    more = dict(library)
    for file, (before, new) in TANH_EXP.items():
        more[file] = inserted(library[file].decode(), file, before, new).encode()
    family = pathlib.Path(__file__).resolve().parent / FAMILY
    more |= {str(path.relative_to(family)): path.read_bytes() for path in family.rglob('*') if path.is_file()}
    build, changed = re.subn(r"^(families = \[.*?)\]", rf"\1, '{FAMILY}']", library['meson.build'].decode(),
                             flags=re.M | re.S)
    if changed != 1:
        sys.exit('meson.build has no list of families')
    return more | {'meson.build': build.encode()}
