#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""own_module.py SOURCE BMI DEPFILE COMPILER [BMI...]: compiles the BMI of a module unit outside the library, in the
root of the build, after others that it may import. COMPILER is the compiler's file in modules/compilers.

The unit is a source of one of the build's targets as well, which makes its object. The flags are those that Meson
wrote down for that: two compilations of one unit must agree, and a consumer has nothing to say twice.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys

import publish

DATABASE = 'compile_commands.json'


def read_keys(path):
    """The keys of a compiler, each a list of words."""
    lines = (line.partition('#')[0] for line in pathlib.Path(path).read_text().splitlines())
    return {key.strip(): value.split() for key, equals, value in (line.partition('=') for line in lines) if equals}


def words_of(source, dropped):
    """The command that compiles the source, without what says where results go, and without the words `dropped`."""
    wanted = os.path.realpath(source)
    for entry in json.loads(pathlib.Path(DATABASE).read_text()):
        if os.path.realpath(os.path.join(entry['directory'], entry['file'])) == wanted:
            words, kept = shlex.split(entry['command']), []
            while words:
                word = words.pop(0)
                if word in ('-o', '-MF', '-MQ'):
                    words.pop(0)
                elif word not in ('-c', '-MD', entry['file'], *dropped):
                    kept.append(word)
            return kept
    sys.exit(f'no target of this build has {source} among its sources: add it to the one that holds its object')


def main():
    source, bmi, depfile = sys.argv[1:4]
    keys = read_keys(sys.argv[4])
    if keys['map']:
        sys.exit(f'{source}: this compiler finds all modules by one map, in which there are those of kerngrad alone: a '
                 'module of your own in a Meson build takes Clang')
    fresh = bmi + '.tmp'
    command = words_of(source, keys['importer']) + keys['only_bmi'] + keys['only_bmi_deps']
    command += [word.replace('@SOURCE@', source) for word in keys['embed']]
    command += ['-MF', depfile, '-MQ', bmi, source, '-o', fresh]
    code = subprocess.run(command).returncode
    if code != 0:
        sys.exit(code)
    # Other flags, and it is made anew.
    listed = pathlib.Path(depfile).read_text().rstrip('\n')
    pathlib.Path(depfile).write_text(f'{listed} \\\n  {DATABASE}\n')
    publish.publish(pathlib.Path(fresh), pathlib.Path(bmi))
    os.remove(fresh)


if __name__ == '__main__':
    main()
