#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""from_numpy.py SCRIPT PROGRAM: a script of NumPy and its port to kerngrad print the same names and numbers."""
import math
import subprocess
import sys

# Sums of float64 in another order differ by a few units in the last place.
TOLERANCE = 1e-12
LEAST = 50


def results_of(command):
    """[(name, numbers)] of the lines that a command prints."""
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in printed.splitlines():
        name, _, numbers = line.partition(':')
        yield name, [float(number) for number in numbers.split()]


def main():
    script, program = sys.argv[1:]
    wanted, found = list(results_of([sys.executable, script])), list(results_of([program]))
    wrong = [f'{name}: NumPy has {numbers}, the port {got} for {other}'
             for (name, numbers), (other, got) in zip(wanted, found, strict=True)
             if name != other or len(numbers) != len(got) or
             not all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in zip(numbers, got))]
    print(*wrong, f'{len(wanted)} results', sep='\n')
    sys.exit(1 if wrong or len(wanted) < LEAST else 0)


if __name__ == '__main__':
    main()
