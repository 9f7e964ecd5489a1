# SPDX-License-Identifier: Apache-2.0
"""What a program is told that is compiled with what pkg-config says, but by another compiler or for another dialect
than the installed BMIs: one sentence, before the compiler says the same in its own words.
"""
import shlex
import subprocess
import sys

from prefixes import report, run

SENTENCE = 'error: kerngrad: these BMIs are of {} '
HELP = '`kerngrad modules --compiler COMPILER -- FLAGS` prints the flags for yours'
# Flags of the dialect that each compiler takes no BMI of another with.
DIALECTS = {'clang': ['-std=c++23', '-std=gnu++20', '-fno-exceptions', '-fno-rtti', '-ffast-math', '-fopenmp',
                      '-funsigned-char'],
            'gcc': ['-std=c++23', '-fno-exceptions', '-fno-rtti']}
# Another version of the compiler, as far as its macros say.
VERSIONS = {'clang': ['-U__clang_major__', '-D__clang_major__=99'], 'gcc': ['-U__GNUC__', '-D__GNUC__=99']}
# What makes no other dialect.
ALLOWED = ['-O2', '-g', '-march=native', '-D_FORTIFY_SOURCE=2']


def refused(command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return [line for line in done.stdout.splitlines() if 'error: ' in line] if done.returncode else []


def check_dialects(at, prefix):
    env = {'PKG_CONFIG_PATH': str(prefix / at.libdir / 'pkgconfig')}
    flags = shlex.split(run(['pkg-config', '--cflags', 'kerngrad'], env=env))
    header = str(prefix / at.libdir / 'kerngrad' / 'same.h')
    where = next((i for i, word in enumerate(flags) if word.endswith('/same.h')), None)
    if where is None or not (prefix / at.libdir / 'kerngrad' / 'same.h').is_file():
        sys.exit(f'the flags of pkg-config do not include {header}, or it is not installed: {flags}')
    without = flags[:where - 1] + flags[where + 1:]
    program = at.root / 'tests' / 'consumer' / 'project' / 'import_only.cc'
    run([*at.cxx, *flags, *ALLOWED, '-fsyntax-only', '-Wall', '-Wextra', '-Werror', program])
    for differs in [[flag] for flag in DIALECTS[at.compiler]] + [VERSIONS[at.compiler]]:
        errors = refused([*at.cxx, *flags, *differs, '-fsyntax-only', program])
        if not errors or SENTENCE.format(at.compiler) not in errors[0] or HELP not in errors[0]:
            sys.exit(f'{differs}: the first error is to be our sentence: {errors[:1]}')
        if differs != VERSIONS[at.compiler] and not refused([*at.cxx, *without, *differs, '-fsyntax-only', program]):
            sys.exit(f'{differs} are refused, and the compiler would take them')
    report(f'pkg-config: {len(DIALECTS[at.compiler])} other dialects and another compiler are told in one sentence')
