# SPDX-License-Identifier: Apache-2.0
"""Ranks that die, hang, or make other calls: the program ends in time, and a message names the rank."""
import concurrent.futures
import subprocess
import sys
import time

import mpi

MPIRUN, PROGRAM = sys.argv[1:3]
MOST_SECONDS = float(sys.argv[3])
CHECKED, UNCHECKED = {}, {'KERNGRAD_MPI_CHECKED': '0'}
SOON = {'KERNGRAD_MPI_TIMEOUT': '2'}
# The fault of rank 1, on how many ranks, the environment, how many ranks report an error, and what the output says.
FAULTS = [
    ('none', 3, CHECKED, 0, []),
    ('foreign', 2, CHECKED, 0, []),
    ('killed', 3, CHECKED, None, ['rank 1', 'signal 9']),
    ('killed', 3, UNCHECKED, None, ['rank 1', 'signal 9']),
    ('throws', 2, CHECKED, None, ['rank 1', 'signal 6']),
    ('ends', 3, CHECKED, 2, ['[kg::mpi::all_reduce]', 'rank 1', 'ended']),
    ('ends', 3, UNCHECKED, 2, ['[kg::mpi::all_reduce]', 'rank 1', 'ended']),
    ('skips', 2, CHECKED, 2, ['all_reduce', 'finish', 'rank 1']),
    ('hangs', 2, CHECKED | SOON, 2, ['[kg::mpi::all_reduce]', 'rank 1', 'within 2 seconds of call 4']),
    ('hangs', 2, UNCHECKED | SOON, 2, ['[kg::mpi::all_reduce]', 'rank 1', 'within 2 seconds of call 4']),
    ('busy', 2, UNCHECKED | SOON, 2, ['[kg::mpi::all_reduce]', 'no message from rank 1 within 2 seconds']),
    ('late', 2, UNCHECKED | SOON, 1, ['[kg::mpi::send_recv]', 'no message from rank 1 within 2 seconds']),
    ('order', 2, CHECKED, 2, ['[kg::mpi::all_reduce]', '[kg::mpi::broadcast]', 'call 4 of rank 1, broadcast']),
    ('order', 2, UNCHECKED | SOON, 2, ['[kg::mpi::all_reduce]', 'rank 1']),
    ('larger', 2, CHECKED, 2, ['float32 [3000]', 'float32 [2000]']),
    ('larger', 2, UNCHECKED | SOON, 2, ['[kg::mpi::all_reduce]', 'rank']),
    ('smaller', 2, CHECKED, 2, ['float32 [1000]', 'float32 [2000]']),
    ('smaller', 2, UNCHECKED | SOON, 2, ['[kg::mpi::all_reduce]', 'of 4000 bytes', 'of 8000 bytes']),
    ('network', 2, CHECKED, 2, ['another network', 'rank 1']),
    ('version', 2, CHECKED, 2, ['rank 1 with kerngrad 9', 'as rank 0 has']),
]


def outcome(args, environment):
    began = time.monotonic()
    ended = mpi.run(args, environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False,
                    text=True, errors='replace')
    return ended.returncode, ended.stdout, time.monotonic() - began


def faults_of(name, got, errors, words):
    code, text, seconds = got
    found = []
    if (code == 0) != (errors == 0):
        found.append(f'exit code {code}')
    if errors is not None and text.count('caught [') != errors:
        found.append(f'{text.count("caught [")} ranks with an error; wanted {errors}')
    if seconds > MOST_SECONDS:
        found.append(f'{seconds:.1f} s')
    found += [f'no "{word}"' for word in words if word not in text]
    return [f'{name}: {", ".join(found)}\n{text}'] if found else []


def main():
    found = []
    # Two at a time: most of them wait.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(outcome, (mpi.command(MPIRUN, ranks, PROGRAM, fault) for fault, ranks, *_ in FAULTS),
                                 (environment for _, _, environment, *_ in FAULTS)))
    for (fault, _, environment, errors, words), got in zip(FAULTS, outcomes):
        found += faults_of(f'{fault} {environment}', got, errors, words)
        print(f'{fault}: {got[2]:.1f} s')
    sys.exit('\n'.join(found) or 0)


if __name__ == '__main__':
    main()
