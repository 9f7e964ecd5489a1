# SPDX-License-Identifier: Apache-2.0
"""Starts a program on several ranks of this machine, with Open MPI's settings for containers and few CPUs."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def environment(**more):
    """The environment of mpirun. KERNGRAD_* and sanitizer variables reach the ranks. Whole stacks of allocations name
    Open MPI's libraries (leaks.supp): its plugins are unloaded before leaks are reported, and it has no frame pointers.
    """
    asan = ':'.join(filter(None, [os.environ.get('ASAN_OPTIONS'), 'fast_unwind_on_malloc=0']))
    return {**os.environ, 'ASAN_OPTIONS': asan, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
            'OMPI_MCA_rmaps_base_oversubscribe': '1', 'OMPI_MCA_hwloc_base_binding_policy': 'none',
            'OMPI_MCA_mpi_yield_when_idle': '1', 'OMPI_MCA_btl_vader_single_copy_mechanism': 'none',
            'OMPI_MCA_btl': 'self,vader', 'KERNGRAD_MPI_CHECKED': '1', 'KERNGRAD_MPI_TIMEOUT': '30',
            'LSAN_OPTIONS': f'suppressions={HERE / "leaks.supp"}', **more}


def command(mpirun, ranks, program, *args):
    return [mpirun, '-n', str(ranks), str(program), *args]


def run(args, more=None, **options):
    """subprocess.run with Open MPI's settings and further variables, and with a folder of its own: two mpirun that make
    and remove the folder of their user at the same time fail."""
    with tempfile.TemporaryDirectory(prefix='mpi', ignore_cleanup_errors=True) as folder:
        return subprocess.run(args, env=environment(OMPI_MCA_orte_tmpdir_base=folder, **more or {}), **options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--mpirun', required=True)
    parser.add_argument('--ranks', type=int, required=True)
    parser.add_argument('program')
    parser.add_argument('rest', nargs=argparse.REMAINDER)
    given = parser.parse_args()
    ended = run(command(given.mpirun, given.ranks, given.program, *given.rest), timeout=240, check=False)
    sys.exit(ended.returncode)


if __name__ == '__main__':
    main()
