# SPDX-License-Identifier: Apache-2.0
"""The scratch superproject that the tests consumer, places and rebuild share: a copy of tests/consumer/project with
copies of the library, which has the ops of tests/places too, and of the examples in its subprojects/, built once
(kernels take minutes) and kept between runs.

A copy, not a link: the rebuild test edits it. Only files that differ are written, so an unchanged file stays
unchanged for Ninja.
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'places'))
import more_ops  # noqa: E402

# A CPU that Debian does not assume, for all of the superproject, library included. No flag that a consumer gets may
# warn.
OPTIONS = ['-Dwerror=true', '-Dcpp_args=-march=x86-64-v3', '--wrap-mode=nodownload']
# Builds the tests: all of it without optimisation, the library too: kernels take minutes otherwise.
# Kernels of the dtypes that the programs and examples need for their speed: consumer/project/few_dtypes.cc checks the
# other dtypes, which the reference kernels compute.
BUILT = ['-Dbuildtype=debug', '-Ddebug=false', '-Dkerngrad:debug_build=true', '-Dkerngrad:simd_dtypes=float32,int32']
# The targets of the kernels, as the option `targets` wants them; compilers are CXX and CC, which Meson reads itself.
TARGETS = os.environ.get('KERNGRAD_TARGETS', '')


def run(command, cwd=None, check=True):
    """Runs a command quietly and returns its output; on failure the output is the message."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if check and done.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\nfailed with {done.returncode}:\n{done.stdout[-6000:]}')
    return done.stdout


def source_files(root):
    """Files of the checkout: all that git does not ignore or, in an unpacked archive, all but builds."""
    if (root / '.git').exists() and shutil.which('git'):
        listed = run(['git', '-c', f'safe.directory={root}', 'ls-files', '-z', '--cached', '--others',
                      '--exclude-standard'], cwd=root)
        return sorted(name for name in listed.split('\0') if name and (root / name).is_file())
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(('build', '.git'))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted(found)


def example_names(root):
    """The examples that are Meson projects of their own; each builds a program of its folder's name."""
    return sorted(path.parent.name for path in (root / 'examples').glob('*/meson.build'))


def contents(source, names):
    """Contents of files, by their names."""
    return {name: (source / name).read_bytes() for name in names}


def write_files(files, target):
    """Writes these files, name -> bytes, to `target`: only those that differ."""
    for name, data in files.items():
        to = target / name
        if not to.exists() or to.read_bytes() != data:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)


def write_tree(files, target):
    """Makes `target` hold exactly these files, name -> bytes."""
    write_files(files, target)
    for path in sorted(target.rglob('*')):
        if path.is_file() and str(path.relative_to(target)) not in files:
            path.unlink()


class Superproject:
    """The scratch superproject in `folder`, made of the library's checkout at `root`."""

    def __init__(self, root, folder):
        self.root, self.source, self.build = root, folder / 'source', folder / 'build'
        self.library = self.source / 'subprojects' / 'kerngrad'
        # A build folder inside the checkout that holds the scratch folder is no part of what is copied.
        self.around = folder.parent if root in folder.parent.parents else folder
        self.meson = os.environ.get('MESON', 'meson')
        self.ninja = os.environ.get('NINJA', 'ninja')

    def prepare(self, library='static'):
        """Copies, configures and builds; what is there already is used."""
        names = [name for name in source_files(self.root) if not (self.root / name).is_relative_to(self.around)]
        write_tree(more_ops.added_to(contents(self.root, names)), self.library)
        for example in example_names(self.root):
            folder = self.root / 'examples' / example
            files = [str(path.relative_to(folder)) for path in folder.rglob('*') if path.is_file()]
            write_tree(contents(folder, files), self.source / 'subprojects' / example)
        project = self.root / 'tests' / 'consumer' / 'project'
        files = contents(project, [path.name for path in project.iterdir()])
        files['examples.txt'] = '\n'.join(example_names(self.root)).encode()
        write_files(files, self.source)
        options = [*BUILT, f'-Dkerngrad:default_library={library}']
        if (self.build / 'build.ninja').exists():
            self.make('build.ninja')  # or Meson knows no options that the library has had since then
            self.configure(*options)
        else:
            run([self.meson, 'setup', self.build, self.source, f'-Dkerngrad:targets={TARGETS}', *OPTIONS, *options])
        return self.make()

    def configure(self, *options):
        run([self.meson, 'configure', self.build, *options])

    def make(self, *arguments):
        return run([self.ninja, '-C', self.build, *arguments])

    def program(self, name, *arguments):
        """Runs one of the programs with the library that it was linked to, and returns its output."""
        env = {key: value for key, value in os.environ.items() if key != 'LD_LIBRARY_PATH'}
        done = subprocess.run([self.build / name, *arguments], stdin=subprocess.DEVNULL, text=True, env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f'{name} returned {done.returncode}:\n{done.stdout}')
        return done.stdout

    def example(self, name, *arguments):
        """Runs an example and returns its output."""
        return self.program(pathlib.Path('subprojects', name, name), *arguments)
