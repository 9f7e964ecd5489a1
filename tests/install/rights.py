#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rights.py TOOL: where a prefix may not be written, tools/install/rights.py says so in one sentence before anything is
installed. Rights bind no root, so the tool runs as another user where the test is root."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
SOMEBODY = {'user': 65534, 'group': 65534, 'extra_groups': []} if os.geteuid() == 0 else {}


def require(condition, what):
    if not condition:
        sys.exit(what)


def check(tool, build, places, wanted, *options):
    """The tool's message about these folders: a part of one sentence, or nothing."""
    (build / 'meson-info' / 'intro-installed.json').write_text(json.dumps({str(at): str(at) for at in places}))
    done = subprocess.run([shutil.which('python3', path='/usr/bin:/bin') or sys.executable, tool, build, *options],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=build, **SOMEBODY)
    right = done.returncode == 0 and done.stdout == '' if wanted is None else \
        done.returncode == 1 and wanted in done.stdout and done.stdout.count('\n') == 1
    require(right, f'of {[str(at) for at in places]} {options} it says, with code {done.returncode}:\n{done.stdout}')


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        build, own, other = (top / folder for folder in ('build', 'own', 'other'))
        for folder in build / 'meson-info', own / 'lib', other / 'share':
            folder.mkdir(parents=True)
        (own / 'file').touch()
        tool = shutil.copy(TOOL, build)  # the checkout may be closed to others
        for path, mode in (top, 0o755), (build, 0o777), (own, 0o777), (own / 'lib', 0o777), (other, 0o555):
            path.chmod(mode)
        (other / 'share').chmod(0o555)
        check(tool, build, [own / 'lib' / 'a', own / 'not' / 'yet' / 'b'], None)
        check(tool, build, [own / 'lib' / 'a', other / 'lib' / 'b'], f'{other} is not yours to write: install as')
        check(tool, build, [other / 'lib' / 'b', other / 'share' / 'c'], f'{other} is not yours to write (and 1 more)')
        check(tool, build, [own / 'file' / 'a'], f'{own / "file"} is no folder')
        check(tool, build, ['/lib/a'], None, '--destdir', own)
        check(tool, build, ['/share/a'], f'{other / "share"} is not yours', '--destdir', other)
        left = sorted(str(path.relative_to(own)) for path in own.rglob('*'))
        require(left == ['file', 'lib'], f'it leaves {left}')
        other.chmod(0o755)


if __name__ == '__main__':
    main()
