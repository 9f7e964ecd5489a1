#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""old_cpu.py QEMU PROGRAM KERNGRAD: the first call of PROGRAM runs on emulated CPUs that have one of the targets that
`KERNGRAD list --targets` names, and throws an error that names them on CPUs without."""
import json
import subprocess
import sys

QEMU, PROGRAM, KERNGRAD = sys.argv[1:]
# CPUs of qemu by the best target that they have, from the oldest to the newest. Its own AVX-512 is not emulated.
CPUS = {'SSE2': 'qemu64', 'SSSE3': 'Conroe', 'SSE4': 'Westmere', 'AVX2': 'Haswell'}


def said_on(cpu):
    done = subprocess.run([QEMU, '-cpu', cpu, PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    return done.returncode, done.stdout.strip()


def main():
    listed = subprocess.run([KERNGRAD, 'list', '--targets', '--json'], check=True, stdout=subprocess.PIPE).stdout
    targets = [target['name'] for target in json.loads(listed)]
    least = min((number for number, name in enumerate(CPUS) if name in targets), default=len(CPUS))
    for number, (name, cpu) in enumerate(CPUS.items()):
        code, said = said_on(cpu)
        if number >= least or 'EMU128' in targets:
            good = (code, said) == (0, '17')
        else:
            good = code == 1 and said.startswith('[kernel] got a CPU without any') and all(t in said for t in targets)
        if not good:
            sys.exit(f'{cpu}, whose best target is {name}, ends with {code}: {said}')
    print(f'{len(CPUS)} CPUs, the first {least} of them below the least target of {" ".join(targets)}')


if __name__ == '__main__':
    main()
