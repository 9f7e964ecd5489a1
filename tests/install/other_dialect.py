# SPDX-License-Identifier: Apache-2.0
"""Message to a program that is compiled with the flags of pkg-config or of `kerngrad modules`, but by another
compiler or for another dialect than the BMIs: one sentence, before the compiler says the same in its own words.
"""
import re
import shlex
import subprocess
import sys

from prefixes import report, run

SENTENCE = 'kerngrad: these BMIs are of {} '
HELP = 'prints for yours in place of those of pkg-config --cflags'
# Flags with which each compiler takes no BMI of a compilation without them.
DIALECTS = {'clang': ['-fno-exceptions', '-fno-rtti', '-ffast-math', '-fno-math-errno', '-fopenmp',
                      '-fno-char8_t', '-ffreestanding', '-fstack-protector', '-fstack-protector-strong',
                      '-fstack-protector-all'],
            'gcc': ['-fno-exceptions', '-fno-rtti']}
# Another version of the compiler, as far as its macros say.
VERSIONS = {'clang': ['-U__clang_major__', '-D__clang_major__=99'], 'gcc': ['-U__GNUC__', '-D__GNUC__=99']}
# Flags that make no other dialect.
ALLOWED = ['-O2', '-g', '-march=native', '-D_FORTIFY_SOURCE=2']


def standards(flags):
    """-std= for another standard than that of the flags, and for the same with GNU's extensions, or without."""
    ours = [flag for flag in flags if flag.startswith('-std=')][-1]
    kind, year = re.fullmatch(r'-std=(c|gnu)\+\+(\d+)', ours).groups()
    return f'-std={kind}++{"20" if year == "23" else "23"}', f'-std={"gnu" if kind == "c" else "c"}++{year}'


def dialects(at, flags):
    other, extensions = standards(flags)
    if at.compiler == 'gcc':
        return [other, *DIALECTS['gcc']]
    macros = run([*at.cxx, '-dM', '-E', '-x', 'c++', '/dev/null'])
    char = '-fsigned-char' if '__CHAR_UNSIGNED__' in macros else '-funsigned-char'
    return [other, extensions, char, *DIALECTS['clang']]


def refused(command):
    """Errors of a compilation that fails."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return [line for line in done.stdout.splitlines() if 'error: ' in line] if done.returncode else []


def expect_sentence(at, command, what):
    errors = refused([*command, '-fsyntax-only', at.root / 'tests' / 'consumer' / 'project' / 'import_only.cc'])
    if not errors or SENTENCE.format(at.compiler) not in errors[0] or HELP not in errors[0]:
        sys.exit(f'{what}: the first error is to be our sentence: {errors[:1]}')


def check_dialects(at, prefix):
    env = {'PKG_CONFIG_PATH': str(prefix / at.libdir / 'pkgconfig')}
    flags = shlex.split(run(['pkg-config', '--cflags', 'kerngrad'], env=env))
    without = [flag for flag in flags if not flag.endswith('/same.h')]
    if len(without) != len(flags) - 1:
        sys.exit(f'the flags of pkg-config do not include same.h: {flags}')
    program = at.root / 'tests' / 'consumer' / 'project' / 'import_only.cc'
    run([*at.cxx, *flags, *ALLOWED, '-fsyntax-only', '-Wall', '-Wextra', '-Werror', program])
    for differs in dialects(at, flags):
        expect_sentence(at, [*at.cxx, *flags, differs], f'pkg-config, {differs}')
        if not refused([*at.cxx, *without, differs, '-fsyntax-only', program]):
            sys.exit(f'{differs} is refused, and the compiler would take it')
    expect_sentence(at, [*at.cxx, *flags, *VERSIONS[at.compiler]], 'pkg-config, another version')
    report(f'pkg-config: {len(dialects(at, flags))} other dialects and another compiler are told in one sentence')
