#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi.py BENCH_MPI [--rates 100mbit 1gbit] [--traces DIR] [--docs]: measures kerngrad.mpi, and fits a cost model.

All runs have at most two ranks of this machine. It runs them over shared memory, and as root also over TCP between two
network namespaces with each rate (tc's tbf), with a CPU for each rank. It prints what the program bench_mpi prints,
tables in Markdown, and which ratios are above the bounds of docs/distributed.md. `--docs` writes the tables into that
page. Run it on a machine that does nothing else.
"""
import argparse
import contextlib
import datetime
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools' / 'bench'))
import mpi_tables  # noqa: E402
import peers_table  # noqa: E402

PAGE = ROOT / 'docs' / 'distributed.md'
BEGIN, END = '<!-- begin: written by tools/bench/mpi.py --docs -->', '<!-- end of mpi -->'
ENVIRONMENT = {**os.environ, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1',
               'OMPI_MCA_hwloc_base_binding_policy': 'none'}
NETWORK = '10.213.57'
NETWORK_OPTIONS = ['--mca', 'btl', 'self,tcp', '--mca', 'btl_tcp_if_include', f'{NETWORK}.0/24',
                   '--mca', 'oob_tcp_if_include', f'{NETWORK}.0/24']


def run(command, **more):
    return subprocess.run(command, check=True, **more)


def said_by(command):
    """Prints what a program prints, and returns it."""
    print('$', *command, flush=True)
    done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=False)
    print(*(line for line in done.stdout.splitlines() if not line.startswith('model ')), sep='\n', flush=True)
    if done.returncode:
        sys.exit(f'{command[0]} ended with {done.returncode}')
    return done.stdout


@contextlib.contextmanager
def namespaces():
    """Two network namespaces. Their names have the number of this process, so that runs do not meet."""
    made = []
    try:
        for i in range(2):
            name = f'kerngrad-mpi-{os.getpid()}-{i}'
            run(['ip', 'netns', 'add', name])
            made.append(name)
        yield made
    finally:
        for name in made:
            subprocess.run(['ip', 'netns', 'delete', name], check=False)


@contextlib.contextmanager
def network(rate):
    """Two network namespaces with a link of that rate. Gives the command that starts two ranks, one in each."""
    with namespaces() as spaces, tempfile.TemporaryDirectory() as folder:
        run(['ip', 'link', 'add', 'kg0', 'netns', spaces[0], 'type', 'veth', 'peer', 'name', 'kg1', 'netns', spaces[1]])
        for i, name in enumerate(spaces):
            inside = ['ip', 'netns', 'exec', name]
            run([*inside, 'ip', 'address', 'add', f'{NETWORK}.{i + 1}/24', 'dev', f'kg{i}'])
            run([*inside, 'ip', 'link', 'set', f'kg{i}', 'up'])
            run([*inside, 'ip', 'link', 'set', 'lo', 'up'])
            # A burst is longer than the longest segment, which the kernel would cut into packets otherwise.
            run([*inside, 'tc', 'qdisc', 'add', 'dev', f'kg{i}', 'root', 'tbf', 'rate', rate, 'burst', '128kb',
                 'latency', '200ms'])
        # Open MPI's remote shell: the other namespace is the other host. Each has a CPU of its own.
        cpus = [str(cpu) for cpu in sorted(os.sched_getaffinity(0))[:2]]
        agent = pathlib.Path(folder) / 'agent.sh'
        agent.write_text(f'#!/bin/sh\nshift\nexec ip netns exec {spaces[1]} taskset -c {cpus[1]} '
                         'unshare --uts sh -c "hostname kg1; $*"\n')
        agent.chmod(agent.stat().st_mode | stat.S_IXUSR)
        yield ['ip', 'netns', 'exec', spaces[0], 'taskset', '-c', cpus[0], 'mpirun', '--mca', 'plm_rsh_agent',
               str(agent), *NETWORK_OPTIONS, '--host', f'{NETWORK}.1:1,{NETWORK}.2:1', '-n', '2']


def conditions():
    """Machine, versions and date of the figures."""
    cpu = re.search(r'model name\s*:\s*(.*)', pathlib.Path('/proc/cpuinfo').read_text())
    mpi = subprocess.run(['mpirun', '--version'], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[0]
    commit = subprocess.run(['git', '-C', str(ROOT), 'rev-parse', '--short=8', 'HEAD'], stdout=subprocess.PIPE,
                            text=True, check=False).stdout.strip()
    return (f'Measured on {datetime.date.today()} on {cpu[1] if cpu else "an unknown CPU"}, {os.cpu_count()} cores, '
            f'with {mpi}, at commit {commit or "unknown"}. {os.getloadavg()[0]:.1f} threads wanted the cores at the '
            'start.')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bench', type=pathlib.Path)
    parser.add_argument('--rates', nargs='*', default=['100mbit', '1gbit'])
    parser.add_argument('--traces', type=pathlib.Path, help='folder that keeps the traces')
    parser.add_argument('--gradients', type=float, default=25e6, help='bytes, for the derived scaling')
    parser.add_argument('--backward', type=float, default=0.1, help='seconds, for the derived scaling')
    parser.add_argument('--docs', action='store_true', help=f'write the tables into {PAGE.relative_to(ROOT)}')
    given = parser.parse_args()
    if given.docs and os.geteuid() != 0:
        sys.exit('--docs needs root: the page has tables over slow networks')
    with tempfile.TemporaryDirectory() as scratch:
        bench, traces = str(given.bench.resolve()), (given.traces or pathlib.Path(scratch)).resolve()
        where = conditions()
        alone = said_by(['mpirun', '-n', '1', bench, 'step=1', 'step=2'])
        shared = said_by(['mpirun', '-n', '2', bench, 'step=1', 'calls', 'overlap', f'trace={traces / "shared"}',
                          'model'])
        networks = {}
        for rate in given.rates if os.geteuid() == 0 else []:
            with network(rate) as start:
                networks[f'TCP at {rate}/s'] = said_by([*start, bench, 'overlap', f'trace={traces / rate}', 'model'])
    text = '\n'.join(mpi_tables.tables(alone, shared, networks, where, given.gradients, given.backward))
    print('', text, '', *mpi_tables.above_bounds({'shared memory': shared, **networks}), sep='\n')
    if given.docs:
        peers_table.replace_between(PAGE, BEGIN, END, text)


if __name__ == '__main__':
    main()
