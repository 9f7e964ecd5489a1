#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fallbacks.py BUILD: the files that docs/architecture.md names for what is Linux's compile where there is no Linux.

Each is compiled as the build does it, but without code, without the compiler's word for ELF, and with the headers of
elsewhere/ before the system's. A header is compiled by itself.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / 'tools'))
import lint  # noqa: E402

WITHOUT = ['-fsyntax-only', '-U__ELF__', '-isystem', str(HERE / 'elsewhere')]
# What makes a command write files, and how many words follow it.
WRITES = {'-o': 1, '-MF': 1, '-MQ': 1, '-MD': 0, '-c': 0, '-fmodule-file-deps': 0}


def commands(build):
    """Source -> its command in the library and its tools, without what writes files and without the source."""
    found = {}
    for entry in json.loads((build / 'compile_commands.json').read_text()):
        if entry['output'].startswith(('kernels/', 'modules/', 'tools/')):
            words, kept = iter(shlex.split(entry['command'])), []
            for word in words:
                if word in WRITES:
                    for _ in range(WRITES[word]):
                        next(words)
                else:
                    kept.append(word)
            found[(build / kept.pop()).resolve()] = kept
    return found


def main():
    build = pathlib.Path(sys.argv[1])
    known = commands(build)
    a_kernels = next(command for source, command in known.items() if source.parent.parent.name == 'kernels')

    def compiled(name):
        source = lint.ROOT / name
        header = ['-Wno-pragma-once-outside-header', '-xc++'] if name.endswith('.h') else []
        compiler, *arguments = known.get(source, a_kernels)
        return subprocess.run([compiler, *WITHOUT, *arguments, *header, source], cwd=build, stderr=subprocess.PIPE,
                              text=True)

    names = [name for name in lint.linux_files() if name.endswith('.h') or lint.ROOT / name in known]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = 0
        for name, done in zip(names, pool.map(compiled, names)):
            failed += done.returncode != 0
            print(f'not ok: {name}\n{done.stderr}' if done.returncode else f'ok: {name} compiles without Linux')
    sys.exit(1 if failed or not names else 0)


if __name__ == '__main__':
    main()
