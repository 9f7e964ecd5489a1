#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py CASE.cc ID -- COMPILER FLAGS...: a case that must not compile, and its twin that must.

Every `// error: TEXT` line of the case is literal text that has to occur in what the compiler says; `// clang: TEXT` is
in Clang's words, and holds where Meson calls the compiler so (ID). `A | B` are the words of two versions, which also
set quotes differently: these do not count. `// advice: TEXT` is text that Clang has to say in the first three lines.
Then it may say fifteen lines in all, or as many as a line `// lines: N` allows. With -DTWIN the case holds the nearest
program that is right, so that a case cannot pass because of a misspelling of its own.
"""
import pathlib
import re
import subprocess
import sys


def compiled(case, command, *more):
    """Return code and output of one compilation."""
    command = [*command, '-fsyntax-only', '-fdiagnostics-color=never', f'-I{case.parent}', *more]
    done = subprocess.run([*command, str(case)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def short(case, text):
    """The reasons why a newcomer would not read a message: late advice, or too many lines."""
    source = case.read_text()
    lines = [line for line in text.splitlines() if 'argument unused during compilation' not in line]
    for advice in re.findall(r'^// advice: (.*)$', source, re.MULTILINE):
        head = '\n'.join(lines[:3]).replace("'", '')
        if not any(words in head for words in advice.replace("'", '').split(' | ')):
            yield f'the first three lines do not say: {advice}\nthe compiler said:\n{text}'
        most = int((re.findall(r'^// lines: (\d+)$', source, re.MULTILINE) or ['15'])[0])
        if len(lines) > most:
            yield f'{len(lines)} lines, more than {most}:\n{text}'


def problems(case, compiler, command):
    lines = re.findall(r'^// (error|clang|advice): (.*)$', case.read_text(), re.MULTILINE)
    if not lines:
        yield 'the case has no `// error:` or `// advice:` line'
    expected = [text for of, text in lines if of in ('error', compiler)]
    code, text = compiled(case, command)
    if code == 0:
        yield 'it compiles'
    elif code != 1:
        yield f'the compiler broke down with {code}:\n{text}'
    for line in expected:
        if not any(words in text.replace("'", '') for words in line.replace("'", '').split(' | ')):
            yield f'the compiler did not say: {line}\nit said:\n{text}'
    if compiler == 'clang':
        yield from short(case, text)
    code, text = compiled(case, command, '-DTWIN')
    if code != 0:
        yield f'its twin does not compile:\n{text}'


def main():
    case, compiler, command = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[4:]
    found = list(problems(case, compiler, command))
    for problem in found:
        print(f'{case.name}: {problem}')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
