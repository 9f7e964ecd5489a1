# SPDX-License-Identifier: Apache-2.0
"""Installing a build into a folder and uninstalling it, for the tests of what is installed."""
import contextlib
import os
import shlex
import shutil
import subprocess
import sys


def run(command, cwd=None, env=None, code=0):
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != code:
        sys.exit(f'{shlex.join(words)}\nreturned {done.returncode}, wanted {code}:\n{done.stdout[-6000:]}')
    return done.stdout


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@contextlib.contextmanager
def installed(build, target):
    """The prefix in the folder `target` until the end of the block, where it is uninstalled. The build remembers what
    was installed of it before."""
    log = build / 'meson-logs' / 'install-log.txt'
    before = log.read_bytes() if log.exists() else None
    try:
        meson = shlex.split(os.environ.get('MESON', 'meson'))
        run([*meson, 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', target])
        yield next(target.rglob('include/kerngrad')).parent.parent
        run([os.environ.get('NINJA', 'ninja'), '-C', build, 'uninstall'])
    finally:
        if before is not None:
            log.write_bytes(before)
