#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dlpack_numpy.py BRIDGE: arrays of NumPy go through the library BRIDGE by DLPack and come back the same.

By the struct without a version, and from NumPy 2.1 on by the versioned one as well.
"""
import ctypes
import gc
import itertools
import sys

import numpy

DTYPES = ['i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'f2', 'f4', 'f8', 'c8', 'c16']
SHAPES = [(), (1,), (7,), (0,), (2, 3), (0, 4), (2, 3, 5)]
NAMES = {False: b'dltensor', True: b'dltensor_versioned'}
USED = {False: b'used_dltensor', True: b'used_dltensor_versioned'}

python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Given:
    """Operand of numpy.from_dlpack: an object that hands out one struct."""

    def __init__(self, address, versioned):
        self.capsule = python.PyCapsule_New(address, NAMES[versioned], None)

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def passed_on(bridge, array, versioned):
    """The array by way of the bridge, and where its elements were there; or why that was rejected."""
    capsule = array.__dlpack__(max_version=(1, 0)) if versioned else array.__dlpack__()
    address = python.PyCapsule_GetPointer(capsule, NAMES[versioned])
    python.PyCapsule_SetName(capsule, USED[versioned])  # it has an owner now
    made, elements, refused = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(500)
    if not bridge.pass_on(ctypes.c_void_p(address), versioned, ctypes.byref(made), ctypes.byref(elements), refused,
                          ctypes.c_size_t(500)):
        return None, refused.value.decode()
    return numpy.from_dlpack(Given(made.value, versioned)), elements.value


def arrays(dtypes):
    random = numpy.random.default_rng(1)
    for dtype, shape in itertools.product(dtypes, SHAPES):
        array = numpy.asarray(abs(random.standard_normal(shape) * 30)).astype(dtype)
        yield array, True
        if array.ndim > 1 and array.size:
            yield numpy.asfortranarray(array), False
            yield array[..., ::2], False
            yield array[::-1], False
            yield array[1:], True


def check(bridge, versioned, dtypes):
    count = 0
    for array, lies_together in arrays(dtypes):
        holders = sys.getrefcount(array)
        back, place = passed_on(bridge, array, versioned)
        what = f'{array.dtype} {array.shape} with strides {array.strides}'
        if back is None:
            sys.exit(f'{what} is refused: {place}')
        if back.dtype != array.dtype or back.shape != array.shape or back.tobytes() != array.tobytes():
            sys.exit(f'{what} comes back as {back.dtype} {back.shape}')
        if array.size and (place == array.ctypes.data) != lies_together:
            sys.exit(f'{what}: {"it was copied" if lies_together else "it was not copied"}')
        if array.size and back.flags.writeable:
            sys.exit(f'{what} comes back as an array that may be written')
        del back
        gc.collect()
        if sys.getrefcount(array) != holders:
            sys.exit(f'{what} is held by somebody')
        count += 1
    for bad in [numpy.zeros(3, 'u8'), numpy.zeros((1,) * 9, 'f4')]:
        holders = sys.getrefcount(bad)
        back, text = passed_on(bridge, bad, versioned)
        if back is not None or 'from_dlpack' not in text:
            sys.exit(f'{bad.dtype} {bad.shape} is not refused')
        if sys.getrefcount(bad) != holders:
            sys.exit(f'{bad.dtype} {bad.shape} is held by somebody')
    return count


def main():
    bridge = ctypes.CDLL(sys.argv[1])
    bridge.tensors.restype = ctypes.c_longlong
    newer = tuple(int(part) for part in numpy.__version__.split('.')[:2]) >= (2, 1)
    before = bridge.tensors()
    for versioned in [False, True] if newer else [False]:
        count = check(bridge, versioned, DTYPES + ['?'] * newer)
        print(f'{count} arrays of NumPy {numpy.__version__}, {"" if versioned else "un"}versioned')
    if bridge.tensors() != before:
        sys.exit(f'{bridge.tensors() - before} tensors are left')


if __name__ == '__main__':
    main()
