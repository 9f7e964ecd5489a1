# SPDX-License-Identifier: Apache-2.0
"""same.py MPIRUN PROGRAM: the program prints the same on 1, 2 and 3 ranks."""
import subprocess
import sys

import mpi

printed = [mpi.run(mpi.command(sys.argv[1], ranks, sys.argv[2]), stdout=subprocess.PIPE, timeout=60,
                   check=True).stdout.decode() for ranks in (1, 2, 3)]
if not printed[0] or any(text != printed[0] for text in printed):
    sys.exit('\n'.join(['the ranks print:', *printed]))
