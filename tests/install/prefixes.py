# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the installed library: running commands, installing a build into a folder, uninstalling it."""
import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time

started = time.monotonic()


def report(text, result='ok'):
    """A line with the seconds since the last one."""
    global started
    now = time.monotonic()
    print(f'{result}: {text} ({now - started:.1f} s)', flush=True)
    started = now


def run(command, cwd=None, env=None, code=0):
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != code:
        sys.exit(f'{shlex.join(words)}\nreturned {done.returncode}, wanted {code}:\n{done.stdout[-6000:]}')
    return done.stdout


def started_alone(program, *arguments):
    """Runs a program without LD_LIBRARY_PATH: it finds the library that it was linked to."""
    return run([program, *arguments], env={'LD_LIBRARY_PATH': ''})


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def needs_of(includes, compiler):
    """Flags that a compiler takes for modules, {key: words}, by the file that lies next to the interfaces."""
    lines = (includes / 'modules' / 'compilers' / f'{compiler}.conf').read_text().splitlines()
    pairs = [line.split('=', 1) for line in lines if '=' in line and not line.startswith('#')]
    return {key.strip(): words.split() for key, words in pairs}


@contextlib.contextmanager
def installed(build, target, command=None):
    """The prefix in the folder `target` until the end of the block, where it is uninstalled. The build remembers what
    was installed of it before."""
    log = build / 'meson-logs' / 'install-log.txt'
    before = log.read_bytes() if log.exists() else None
    meson = shlex.split(os.environ.get('MESON', 'meson'))
    try:
        run(command or [*meson, 'install', '-C', build, '--no-rebuild', '--quiet'], env={'DESTDIR': str(target)})
        yield next(target.rglob('include/kerngrad')).parent.parent
        run([os.environ.get('NINJA', 'ninja'), '-C', build, 'uninstall'])
    finally:
        if before is not None:
            log.write_bytes(before)
