#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""renamed.py CHANGELOG NAMES RELEASED: CHANGELOG's table of names has a row for each exported name of the last release
that programs no longer see, and the names that it gives instead are exported.

NAMES is the list that the test `names` holds, RELEASED that of the last release.
"""
import pathlib
import re
import sys

ROW = re.compile(r'^\| `(kg::[\w:]+)` \| (.+) \|$', re.MULTILINE)


def mistakes(page, exported, released):
    rows = dict(ROW.findall(page.partition('\n### Renamed\n')[2].partition('\n## ')[0]))
    gone = {name for name in released - exported if not name.startswith('kg::detail::')}
    for name in sorted(gone - rows.keys()):
        yield f'{name} is gone, and the table has no row for it'
    for name in sorted(rows.keys() - gone):
        yield f'the table has {name}, which ' + ('is exported' if name in exported else 'the last release lacks')
    for name, instead in rows.items():
        for other in re.findall(r'kg::[\w:]*\w', instead):
            if other not in exported:
                yield f'the table has {other} in place of {name}, and it is not exported'


def main():
    page, exported, released = (pathlib.Path(path).read_text() for path in sys.argv[1:4])
    sys.exit('\n'.join(mistakes(page, set(exported.split()), set(released.split()))) or 0)


if __name__ == '__main__':
    main()
