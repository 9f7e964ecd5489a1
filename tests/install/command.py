# SPDX-License-Identifier: Apache-2.0
"""The installed command: what its man page and its completion say, and `kerngrad modules`."""
import re
import shlex
import sys

import by_meson
from other_dialect import expect_sentence
from prefixes import fresh, report, run, started_alone

OTHER_LIBRARY = {'libstdc++': '_LIBCPP_VERSION', 'libc++': '__GLIBCXX__'}  # what tells that another one is there


def words_of_help(tool, *command):
    """Subcommands and long options, by --help, which each version of CLI11 sets in a way of its own."""
    said = run([tool, *command, '--help'])
    listed = re.search(r'^Subcommands:\n((?:  .*\n)+)', said, re.MULTILINE | re.IGNORECASE)
    commands = re.findall(r'^  (\w+)', listed[1] if listed else '', re.MULTILINE)
    return commands, re.findall(r'^  +(?:-\w, *)?(--[\w-]+)', said, re.MULTILINE)


def completed(prefix, *before):
    """Words that the installed completion offers after these words."""
    words = shlex.join(['kerngrad', *before, ''])
    file = prefix / 'share' / 'bash-completion' / 'completions' / 'kerngrad'
    script = f'. {shlex.quote(str(file))}; COMP_WORDS=({words}); COMP_CWORD={len(before) + 1}; '
    return set(run(['bash', '-ec', script + '_kerngrad; echo "${COMPREPLY[@]}"']).split())


def check_pages(prefix):
    """Man page and completion have what --help has, of each subcommand too."""
    tool = prefix / 'bin' / 'kerngrad'
    page = (prefix / 'share' / 'man' / 'man1' / 'kerngrad.1').read_text().replace('\\-', '-')
    commands, options = words_of_help(tool)
    if not commands or completed(prefix) != {*commands, *options}:
        sys.exit(f'completed is {completed(prefix)}, and --help has {commands} {options}')
    for command in commands:
        inner, options = words_of_help(tool, command)
        wanted, sections = {*inner, *options}, [command]
        for name in inner:
            wanted |= set(words_of_help(tool, command, name)[1])
            sections.append(f'{command} {name}')
        if completed(prefix, command) != wanted:
            sys.exit(f'after {command}, {completed(prefix, command)} is completed, and --help has {wanted}')
        missing = [name for name in sections if f'.SH "kerngrad {name}"\n' not in page]
        missing += [option for option in options if not re.search(rf'^\.B .*{option}\b', page, re.MULTILINE)]
        if missing:
            sys.exit(f'the man page says nothing of {missing}')
    report(f'man page and completion have the {len(commands)} commands of --help and their options')


def refused(command, wanted):
    said = run(command, code=1)
    if wanted not in said or said.count('\n') != 1:
        sys.exit(f'{shlex.join(map(str, command))} says: {said}')


def standard_library(at):
    macros = run([*at.cxx, '-dM', '-E', '-x', 'c++', '-include', 'version', '/dev/null'], cwd='/')
    return 'libc++' if '_LIBCPP_VERSION' in macros else 'libstdc++'


def check_refusals(at, tool, into):
    """Compilers and flags that will not do; nothing is left of the attempt."""
    old = into / 'old-compiler'
    old.write_text('#!/bin/sh\necho "#define __GNUC__ 14\n#define __GNUC_MINOR__ 2\n#define __GNUC_PATCHLEVEL__ 0\n'
                   '#define __VERSION__ \\"14.2.0\\""\n')
    old.chmod(0o755)
    bmis = into / 'bmis'
    for compiler, wanted in [(old, 'is gcc 14.2.0, and the interfaces need gcc'),
                             ('/bin/true', 'it is no C++ compiler'), ('/no/such/c++', 'there is no program')]:
        refused([tool, 'modules', '--compiler', compiler, '--into', bmis], wanted)
    asked = [tool, 'modules', '--compiler', shlex.join(at.cxx), '--into', bmis, '--']
    own = standard_library(at)
    headers = fresh(into / 'headers')
    (headers / 'version').write_text(f'#define {OTHER_LIBRARY[own]} 1\n')
    other = next(name for name in OTHER_LIBRARY if name != own)
    refused([*asked, f'-I{headers}'], f'takes {other}, and the installed library was built with {own}: ')
    refused([*asked, '--no-such-flag'], 'finds no standard library, or does not take these flags')
    refused([tool, 'modules', '--compiler', shlex.join(at.cxx), '--into', '/proc/none'],
            'name another folder with --into')
    left = [str(path) for path in bmis.rglob('*')]
    if left:
        sys.exit(f'kerngrad modules refuses and leaves {left}')
    report('compilers, flags and standard libraries that will not do are refused in one sentence')


def check_modules(at, prefix, caches, folder):
    """`kerngrad modules` for a program with other flags, twice, and with flags that it rejects. The flags are those of
    docs/install.md, whose commands find the interfaces in the same folder later."""
    tool, into = prefix / 'bin' / 'kerngrad', fresh(folder)
    asked = [tool, 'modules', '--compiler', shlex.join(at.cxx), '--', '-std=c++23']
    env = {'XDG_CACHE_HOME': str(fresh(caches))}

    def made():
        return {path: path.stat().st_mtime_ns for path in caches.rglob('*') if path.suffix in ('.pcm', '.gcm', '.map')}
    flags = run(asked, env=env)
    libs = run(['pkg-config', '--libs', 'kerngrad'], env={'PKG_CONFIG_PATH': str(prefix / at.libdir / 'pkgconfig')})
    program = at.root / 'tests' / 'consumer' / 'project' / 'import_only.cc'
    run([*at.cxx, *shlex.split(flags), program, *shlex.split(libs), '-o', into / 'program'])
    started_alone(into / 'program')
    words = shlex.split(flags)
    if len([word for word in words if word.startswith('-std=')]) != 1 or words.count('-pthread') != 1:
        sys.exit(f'kerngrad modules prints defaults beside what was asked for: {flags}')
    expect_sentence(at, [*at.cxx, *words, '-fno-exceptions'], 'kerngrad modules, -fno-exceptions')
    before = made()
    report(f'kerngrad modules compiles {len(before)} interfaces for C++23')
    if run(asked, env=env) != flags or not before or made() != before:
        sys.exit('kerngrad modules says something else the second time, or compiles again')
    report('and has them from then on')
    by_meson.check_other_dialect(at, prefix, words, folder / 'meson')
    check_refusals(at, tool, into)
