# SPDX-License-Identifier: Apache-2.0
"""Debian packages of any suite and architecture, unpacked into a folder of the user's cache, for building against them
and for running them under an emulator. The system's own lists of packages and architectures stay as they are.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'
CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'kerngrad'


def architecture():
    """Debian's name of this machine's."""
    require_dpkg()
    said = subprocess.run(['dpkg', '--print-architecture'], check=True, stdout=subprocess.PIPE, text=True).stdout
    return said.strip()


def require_dpkg():
    for program in 'apt-get', 'dpkg':
        if not shutil.which(program):
            sys.exit(f'{program} is missing: packages of Debian are unpacked by it')


def mirror():
    """Sources of this system's packages; packages of other suites are there as well."""
    listed = subprocess.run(['apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Origin: Debian', 'Label: Debian'],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout.split()
    if not listed:
        sys.exit('apt knows no mirror of Debian (apt-get indextargets): other systems are made of its packages')
    return listed[0]


def apt(root, suite, architecture, *command):
    """Runs apt-get with lists, settings and a record of what is installed that are all below `root`."""
    places = {'Dir::State': root / 'state', 'Dir::State::lists': root / 'state' / 'lists',
              'Dir::State::status': root / 'state' / 'status', 'Dir::Cache': root / 'cache',
              'Dir::Etc::sourcelist': root / 'sources.list', 'Dir::Etc::sourceparts': '/dev/null',
              'Dir::Etc::preferencesparts': '/dev/null', 'Dir::Etc::preferences': '/dev/null',
              'APT::Architecture': architecture, 'APT::Architectures': architecture, 'APT::Sandbox::User': '',
              # A copy of a suite on a mirror may be older than its index says that it is good for.
              'Acquire::Check-Valid-Until': 'false'}
    settings = [word for key, value in places.items() for word in ('-o', f'{key}={value}')]
    return subprocess.run(['apt-get', '-qq', *settings, *command], stdin=subprocess.DEVNULL).returncode == 0


def unpacked(suite, architecture, packages, depends=True):
    """The folder with these packages and all that they depend on, made at the first call. Another list of packages is
    another folder; one that was interrupted is made again."""
    require_dpkg()
    if not pathlib.Path(KEYS).exists():
        sys.exit(f'{KEYS} is missing: apt-get install debian-archive-keyring')
    words = ' '.join([suite, architecture, *sorted(packages)])
    root = CACHE / f'{suite}-{architecture}-{hashlib.sha256(words.encode()).hexdigest()[:8]}'
    if root.exists():
        return root
    print(f'== unpacking {words}', flush=True)
    fresh = root.with_suffix('.new')
    shutil.rmtree(fresh, ignore_errors=True)
    lists = fresh / 'apt'
    for folder in 'state/lists/partial', 'cache/archives/partial':
        (lists / folder).mkdir(parents=True)
    (lists / 'state' / 'status').touch()
    source = mirror()
    (lists / 'sources.list').write_text(f'deb [signed-by={KEYS}] {source} {suite} main\n')
    wanted = ['install', '-y', '--no-install-recommends', '--download-only'] if depends else ['download']
    archives = lists / 'cache' / 'archives'
    if not apt(lists, suite, architecture, 'update'):
        sys.exit(f'the lists of {suite} could not be fetched from {source}')
    here = os.getcwd()
    os.chdir(archives)  # where `download` puts packages
    done = apt(lists, suite, architecture, *wanted, *packages)
    os.chdir(here)
    if not done:
        sys.exit(f'packages of {suite} for {architecture} could not be fetched from {source}: {" ".join(packages)}')
    for archive in archives.glob('*.deb'):
        subprocess.run(['dpkg', '--extract', archive, fresh], check=True)
    shutil.rmtree(lists)
    if not (fresh / 'lib').exists():  # since Debian 13 no package has it: it is made with a system
        (fresh / 'lib').symlink_to('usr/lib')
    # Links to places of the whole system, as those of libraries for development may be, are to stay inside.
    for link in fresh.rglob('*'):
        if link.is_symlink() and os.readlink(link).startswith('/'):
            target = fresh / os.readlink(link).lstrip('/')
            link.unlink()
            link.symlink_to(os.path.relpath(target, link.parent))
    fresh.rename(root)
    return root
