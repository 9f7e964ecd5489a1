# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/install.md, each run as the page says."""
import os
import pathlib
import re
import shlex
import shutil
import sys

from prefixes import fresh, report, run, started_alone

# Commands, and in a copy of which folder they are run, or which function here runs them otherwise.
SNIPPET = re.compile(r'^```sh\n(.*?)^```\n(?:<!-- run (in|by) (\S+) -->)?', re.MULTILINE | re.DOTALL)
MOST_LINES = 10
WAY = re.compile(r'^## (.*)\n((?:(?!## ).*\n)*)', re.MULTILINE)
COMPILER = re.compile(r'clang\+\+-\d+')  # the one that the page names


def check_ways(at):
    """Each way to build a program takes no more lines of the page, blank ones and comments aside."""
    for title, text in WAY.findall((at.root / 'docs' / 'install.md').read_text()):
        lines = [line for line in text.splitlines() if line and not line.startswith('<!--')]
        if '<!-- run in ' in text and len(lines) > MOST_LINES:
            sys.exit(f'docs/install.md tells "{title}" in {len(lines)} lines, and not in {MOST_LINES}')


def snippets(at, compiler=None):
    """{(how, where): commands} of the page; each has to say how it is run, and may not be long."""
    text, found = (at.root / 'docs' / 'install.md').read_text(), {}
    for commands, how, where in SNIPPET.findall(text):
        if not how or commands.count('\n') > MOST_LINES:
            sys.exit(f'docs/install.md: nobody runs these commands, or there are more than {MOST_LINES}:\n{commands}')
        found.setdefault((how, where), []).append(COMPILER.sub(compiler or shlex.join(at.cxx), commands))
    if text.count('```sh\n') != sum(map(len, found.values())):
        sys.exit('docs/install.md has commands that the test does not find')
    return found


def only(found, where):
    if len(found.get(('by', where), [])) != 1:
        sys.exit(f'docs/install.md has not one snippet, and one alone, that is run by {where}')
    return found['by', where][0]


def setup_command(at, build, compiler):
    """How the page configures the library, in another folder."""
    commands = only(snippets(at, compiler), 'setup_command')
    if 'setup build' not in commands:
        sys.exit('docs/install.md configures without `setup build`')
    here = commands.replace('setup build', f'setup {shlex.quote(str(build))} --wrap-mode=nofallback')
    return ['sh', '-ec', f'cd {shlex.quote(str(at.root))}; {here}']


def install_command(at):
    """How the page installs, from this build, which is not built again."""
    place = shlex.quote(str(at.build))
    commands = only(snippets(at), 'install_command')
    for words, here in [('ninja -C build && ', ''), ('rights.py build', f'rights.py {place}'),
                        ('-C build', f'-C {place} --no-rebuild --quiet')]:
        if words not in commands:
            sys.exit(f'docs/install.md installs without `{words}`')
        commands = commands.replace(words, here)
    return ['sh', '-ec', f'cd {shlex.quote(str(at.root))}; {commands}']


def check_page(at, prefix, cmake, caches, folder):
    """The commands that are run in an example, each in a copy of it, and the program that they make."""
    check_ways(at)
    path = [prefix / 'bin', *([pathlib.Path(shutil.which(cmake)).parent] if cmake else []), os.environ['PATH']]
    env = {'PKG_CONFIG_PATH': str(prefix / at.libdir / 'pkgconfig'), 'CMAKE_PREFIX_PATH': str(prefix),
           'XDG_CACHE_HOME': str(caches), 'LD_LIBRARY_PATH': '', 'PATH': ':'.join(map(str, path))}
    ran = 0
    for (how, example), all_commands in snippets(at).items():
        for commands in all_commands if how == 'in' else []:
            if 'cmake' in commands and not cmake:
                report(f'docs/install.md: {commands.strip()}: there is no CMake 3.28 or newer', 'not run')
                continue
            here = fresh(folder) / 'example'
            shutil.copytree(at.root / example, here)
            run(['sh', '-ec', commands], cwd=here, env=env)
            started_alone(next(path for path in (here / 'installed', here / 'build' / 'installed') if path.exists()))
            report('docs/install.md: ' + '; '.join(commands.strip().split('\n')))
            ran += 1
    if not ran:
        sys.exit('docs/install.md has no commands that are run in an example')
