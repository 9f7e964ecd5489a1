# SPDX-License-Identifier: Apache-2.0
"""Results of the commands that test a platform: the counts of their closing lines, and the line that sums them up."""
import re
import subprocess
import sys
import typing

CLOSING = re.compile(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', re.MULTILINE)


class Counts(typing.NamedTuple):
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __str__(self):
        return f'{self.passed} passed, {self.failed} failed' + (f', {self.skipped} skipped' if self.skipped else '')


BROKEN = Counts(failed=1)  # what was to be run, and could not be built or broke off


def total(counts):
    return Counts(*map(sum, zip(*counts)))


def say(text):
    print(f'== {text}', flush=True)


def counted(command, env=None):
    """The counts of a command's closing line; one that has none has failed, and so has one that says so by its code."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          env=env)
    print(done.stdout, end='', flush=True)
    found = [Counts(*(int(number or 0) for number in line)) for line in CLOSING.findall(done.stdout)]
    if not found:
        print(f'{command[0]}: ended without a closing line', flush=True)
        return BROKEN
    return found[-1]._replace(failed=max(found[-1].failed, 1 if done.returncode else 0))


def close(counts):
    """Prints the closing line of all, and exits by it."""
    of_all = total(counts)
    print(of_all)
    sys.exit(1 if of_all.failed or not of_all.passed else 0)
