# SPDX-License-Identifier: Apache-2.0
"""demo.py MPIRUN DEMO: two ranks reach the accuracy of one, and a resumed training is bitwise identical."""
import pathlib
import re
import subprocess
import sys
import tempfile

import mpi

OPTIONS = ['--model', 'mlp', '--epochs', '2', '--limit', '2000']
DATA = pathlib.Path('/usr/share/datasets/fashion-mnist')


def accuracy_of(args):
    done = mpi.run(args, stdout=subprocess.PIPE, timeout=60, check=True)
    return float(re.search(r'^test accuracy: ([\d.]+)', done.stdout.decode(errors='replace'), re.MULTILINE).group(1))


def main():
    if not DATA.is_dir():
        sys.exit(77)  # skipped
    mpirun, demo = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as scratch:
        whole, resumed, state = (str(pathlib.Path(scratch) / name) for name in ('whole', 'resumed', 'state'))
        alone = accuracy_of([demo, *OPTIONS])
        both = mpi.command(mpirun, 2, demo, '--several-processes', *OPTIONS, '--checkpoint', state)
        together = accuracy_of([*both, '--every', '25', '--save', whole])
        again = accuracy_of([*both, '--resume', '--save', resumed])
        if abs(alone - together) > 0.005 or together != again:
            sys.exit(f'accuracy {alone} of one rank, {together} of two, {again} resumed')
        if pathlib.Path(whole).read_bytes() != pathlib.Path(resumed).read_bytes():
            sys.exit('the resumed training has other weights')


if __name__ == '__main__':
    main()
