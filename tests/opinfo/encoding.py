# SPDX-License-Identifier: Apache-2.0
"""The arguments and results of a case as JSON, which sample.cc reads.

A tensor is {"s": shape, "v": elements}, with "t" where its dtype is another one than that of the case, and "d" where a
gradient is asked for. Complex elements are two numbers. NaN and infinities are strings. Other arguments are
{"dtype": name}, {"slice": [start, stop, step]}, {"complex": [re, im]}, numbers, strings, lists and null.
"""
import math

import numpy as np
import torch

NAMES = {torch.float16: 'float16', torch.float32: 'float32', torch.float64: 'float64', torch.bfloat16: 'bfloat16',
         torch.complex64: 'complex64', torch.complex128: 'complex128', torch.int8: 'int8', torch.int16: 'int16',
         torch.int32: 'int32', torch.int64: 'int64', torch.uint8: 'uint8', torch.bool: 'bool',
         torch.complex32: 'complex32'}
ONE_HERE = (torch.device, torch.layout, torch.memory_format)  # kinds of arguments of which there is one


class NotData(Exception):
    """An argument that no case can hold, a function for instance."""


SINGLE = {torch.float16: np.float16, torch.float32: np.float32, torch.complex64: np.float32}


def shortest(value, single):
    """The decimal number with the fewest digits that is this one in single or half precision."""
    for digits in (4, 9):
        if single(float(f'{value:.{digits}g}')) == value:
            return digits
    return 17


def number(value, digits):
    if isinstance(value, (bool, int)):
        return int(value)
    if math.isnan(value):
        return 'NaN'
    if math.isinf(value):
        return 'Infinity' if value > 0 else '-Infinity'
    short = float(f'{value:.{digits}g}')
    return int(short) if short == int(short) and abs(short) < 1e6 and not (short == 0 and math.copysign(1, short) < 0) \
        else short


def numbers(tensor, digits=None):
    single = SINGLE.get(tensor.dtype)
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.contiguous())
    return [number(value, digits or (shortest(value, single) if single else 17))
            for value in tensor.reshape(-1).tolist()]


def encode_tensor(tensor, type_of_case, differentiable):
    if tensor.device.type != 'cpu' or tensor.layout != torch.strided or tensor.dtype not in NAMES:
        raise NotData('a tensor of another device, layout or dtype')
    coded = {'s': list(tensor.shape), 'v': numbers(tensor)}
    if NAMES[tensor.dtype] != type_of_case:
        coded['t'] = NAMES[tensor.dtype]
    if differentiable:
        coded['d'] = 1
    return coded


def encode(value, type_of_case):
    """An argument as JSON."""
    if isinstance(value, torch.Tensor):
        return encode_tensor(value, type_of_case, value.requires_grad)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) else number(value, 17)
    if isinstance(value, complex):
        return {'complex': [number(value.real, 17), number(value.imag, 17)]}
    if isinstance(value, torch.dtype):
        return {'dtype': NAMES[value]}
    if isinstance(value, slice):
        return {'slice': [encode(part, type_of_case) for part in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {'ellipsis': 1}
    if isinstance(value, (list, tuple, torch.Size)):
        return [encode(item, type_of_case) for item in value]
    if isinstance(value, ONE_HERE):
        return None
    raise NotData(type(value).__name__)
