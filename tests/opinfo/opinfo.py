# SPDX-License-Identifier: Apache-2.0
"""Cases of PyTorch's OpInfo: samples of the arguments of its functions, and values and gradients in double precision.

A case has the op, the dtype, the arguments, and for each result and each gradient its elements with the sums that
bound rounding. Operands have four significant digits, so that a case is short. All elements of a case are
reproducible: each op and dtype has a seed of its own.
"""
import random
import sys
import unittest
import warnings
import zlib
from unittest import mock

import numpy as np
import torch

from encoding import NAMES, NotData, encode, number, numbers

# Debian has no package of it; OpInfo's module imports it for classes of tests, which nothing here makes.
sys.modules.setdefault('expecttest', mock.MagicMock(TestCase=unittest.TestCase))
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

DTYPES = (torch.float32, torch.float64, torch.complex64, torch.int64, torch.uint8, torch.bool, torch.float16)
WIDE = {torch.float16: torch.float64, torch.float32: torch.float64, torch.complex64: torch.complex128}
NARROW = {torch.float64: torch.float32, torch.complex128: torch.complex64, torch.float16: torch.float32}
MOST_SAMPLES, MOST_ELEMENTS = 24, 600  # of an op in a dtype; of a case
STEP, DRAWS = 1e-6, 4  # relative changes of operands, by which the condition is measured
ROUNDING = 2.0**-23  # of single precision, in which PyTorch's own error is measured
OF_STORAGE = {'device', 'layout', 'pin_memory', 'requires_grad'}  # arguments that say nothing of values
JUMP = 1e4  # a larger change is that of a function that is not continuous there
CANCELLED = 1e-12  # a result below this part of the largest one is what sums leave that cancel
NOTHING_LEFT = 1e-15  # so are all elements of a derivative whose largest one is below this part of the operands


def key_of(op):
    return f'{op.name}/{op.variant_test_name}' if op.variant_test_name else op.name


# ---- arguments

def mapped(value, change):
    """The arguments with each tensor and dtype changed."""
    if isinstance(value, (torch.Tensor, torch.dtype)):
        return change(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        items = [mapped(item, change) for item in value]
        return type(value)(items) if type(value) in (list, tuple) else items
    if isinstance(value, dict):
        return {name: mapped(item, change) for name, item in value.items()}
    return value


def tensors_of(value):
    found = []
    mapped(value, lambda item: found.append(item) if isinstance(item, torch.Tensor) else None)
    return found


def shortened(value):
    """A leaf with four significant digits."""
    if isinstance(value, torch.dtype):
        return value
    plain = value.detach().resolve_conj().resolve_neg().contiguous().clone()
    if plain.is_sparse or plain.layout != torch.strided:
        raise NotData('a sparse tensor')
    if plain.is_floating_point() or plain.is_complex():
        real = torch.view_as_real(plain) if plain.is_complex() else plain
        short = [float(f'{item:.4g}') for item in real.double().reshape(-1).tolist()]
        real.copy_(torch.tensor(short, dtype=torch.float64).reshape(real.shape))
    return plain.requires_grad_(value.requires_grad)


def widened(value):
    """The same in double precision."""
    if isinstance(value, torch.dtype):
        return WIDE.get(value, value)
    return value.detach().to(WIDE.get(value.dtype, value.dtype)).clone().requires_grad_(value.requires_grad)


def narrowed(value):
    """The same in single precision."""
    if isinstance(value, torch.dtype):
        return NARROW.get(value, value)
    return value.detach().to(NARROW.get(value.dtype, value.dtype)).clone().requires_grad_(value.requires_grad)


def perturbed(seed, draw):
    generator = torch.Generator().manual_seed(seed * DRAWS + draw)

    def change(value):
        if isinstance(value, torch.dtype) or not (value.is_floating_point() or value.is_complex()):
            return value
        plain = torch.view_as_real(value.detach()) if value.is_complex() else value.detach()
        changed = plain * (1 + STEP * (torch.randint(0, 2, plain.shape, generator=generator).double() * 2 - 1))
        return (torch.view_as_complex(changed) if value.is_complex() else changed).requires_grad_(value.requires_grad)
    return change


# ---- values, gradients and the gradients of those

def results_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in results_of(part)]
    if isinstance(value, (bool, int, float, complex)):
        return [torch.tensor(value)]
    raise NotData(f'a result of type {type(value).__name__}')


def pattern(count, factor, modulus):
    """Weights without a zero, exact in every float: (i * factor % modulus - (modulus - 1) / 2 + 1 / 8) / 4."""
    index = torch.arange(count, dtype=torch.float64)
    return (index * factor % modulus - (modulus - 1) / 2 + 0.125) / 4


def functional(tensors, factor, modulus, change=lambda weights: weights):
    """A real number that depends on every element: the sum of all parts, each with its weight."""
    total = torch.zeros((), dtype=torch.float64)
    for tensor in tensors:
        if tensor.is_floating_point() or tensor.is_complex():
            parts = (torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor).reshape(-1)
            total = total + (parts * change(pattern(parts.numel(), factor, modulus))).sum()
    return total


def gradients(total, leaves, further):
    if not total.requires_grad:
        return None
    found = torch.autograd.grad(total, leaves, create_graph=further, allow_unused=True)
    return [torch.zeros_like(leaf) if part is None else part for part, leaf in zip(found, leaves)]


def evaluated(run, arguments, second_order, change=lambda weights: weights):
    """[results, gradients or nothing, gradients of those or nothing]. `change` is that of the weights."""
    leaves = [tensor for tensor in tensors_of(arguments) if tensor.requires_grad]
    results = results_of(run(arguments))
    first = gradients(functional(results, 5, 8, change), leaves, second_order) if leaves else None
    second = gradients(functional(first, 3, 7, change), leaves, False) if first and second_order else None
    return [results, first, second]


def parts_of(tensor):
    """The elements in one list, of complex ones both parts."""
    tensor = tensor.detach().resolve_conj()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1)


def largest_of(tensors):
    """The size of the largest finite element of all."""
    sizes = [parts_of(tensor).double().abs() for tensor in tensors]
    return max((size[size.isfinite()].max().item() for size in sizes if size.isfinite().any()), default=0.0)


def largest_change(pairs, unit, most):
    """The largest difference of each element in units of `unit`, 0 where it is a jump or no number."""
    change = torch.stack([(parts_of(a).double() - parts_of(b).double()).abs() for a, b in pairs]).amax(0) / unit
    change[(change > most) | ~change.isfinite()] = 0
    return change


def is_float(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def part(wanted, others, roundings, type_of_case, own_type, largest, scale, least):
    """The elements of a result, and the condition: how much it changes, in units of the relative change.

    `roundings` are pairs of the same result in single and in double precision. Their difference counts too, because
    no change of the operands shows the terms of a sum that is always 0. An element far below the largest one is what
    sums leave that cancel, so that their terms count. No condition is below `least`.
    """
    digits = 17 if own_type in ('float64', 'complex128') else 9
    coded = {'s': list(wanted.shape), 'v': numbers(wanted, digits)}
    if own_type != type_of_case:
        coded['t'] = own_type
    if not is_float(wanted) or wanted.numel() == 0:
        return coded
    size = parts_of(wanted).abs()
    change = largest_change([(item, wanted) for item in others], STEP, JUMP * (size + largest))
    if roundings:
        change = torch.maximum(change, largest_change(roundings, ROUNDING, JUMP * (size + scale)))
    cancelled = size <= CANCELLED * largest
    change[cancelled] = torch.clamp(change[cancelled], min=largest)
    change = torch.clamp(change, min=least)
    if (change > 4 * size).any():
        coded['c'] = [number(value, 2) for value in change.tolist()]
    return coded


def least_condition(name, tensors, largest, scale, of_transform):
    """A bound of the conditions of one kind of results from below.

    Derivatives without a digit are zero, up to the rounding of terms as large as the operands. The error of a Fourier
    transform is bounded for its norm alone: Higham, Accuracy and Stability of Numerical Algorithms, section 24.1.
    """
    if name != 'y' and largest <= NOTHING_LEFT * scale:
        return scale
    if not of_transform:
        return 0.0
    return max((parts_of(item).square().mean().sqrt().item() for item in tensors if is_float(item)), default=0.0)


def encoded_results(all_runs, own_types, type_of_case, narrow_runs=(), scale=0.0, of_transform=False):
    """The keys y, g and h of a case. `own_types` are those of results and of leaves."""
    coded = {}
    for at, name in enumerate('ygh'):
        first, *others = [run[at] for run in all_runs]
        if first is None:
            continue
        largest = largest_of([item for item in first if is_float(item)])
        least = least_condition(name, first, largest, scale, of_transform)
        scale = max(scale, largest)
        pairs = [(narrow[at], wide[at]) for narrow, wide in zip(narrow_runs, all_runs) if narrow and narrow[at]]
        coded[name] = [part(item, [other[i] for other in others], [(a[i], b[i]) for a, b in pairs], type_of_case,
                            own_types[name != 'y'][i], largest, scale, least) for i, item in enumerate(first)]
    return coded


def narrow_name(name, type_of_case):
    """The dtype that a result in double precision has in the case's precision."""
    if type_of_case in ('float16', 'float32') and name in ('float64',):
        return type_of_case
    return {'complex128': 'complex64'}.get(name, name) if type_of_case != 'float64' else name


def own_types(run, sample, wide_results, type_of_case):
    """The dtypes of the results, from a run in the case's own precision where PyTorch has one, and those of leaves."""
    leaves = [NAMES[item.dtype] for item in tensors_of(sample) if item.requires_grad]
    plain = mapped(sample, lambda item: item if isinstance(item, torch.dtype) else item.detach())
    try:
        with torch.no_grad():
            return [NAMES[item.dtype] for item in results_of(run(plain))], leaves
    except Exception:  # float16 has few kernels on CPUs
        return [narrow_name(NAMES[item.dtype], type_of_case) for item in wide_results], leaves


def weights_of(seed, draw):
    """The change of the weights of a draw, the same in each run."""
    return (lambda values: values) if draw is None else perturbed(seed + 1, draw)


class double_default:
    """float64 where PyTorch makes floats of integers."""

    def __enter__(self):
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *_):
        torch.set_default_dtype(torch.float32)


def in_single_precision(run, sample, second_order, weights, wide_run):
    """The run with operands of single precision, or nothing where PyTorch has none of the same shapes."""
    try:
        found = evaluated(run, mapped(sample, narrowed), second_order, weights)
    except Exception:
        return None
    shapes = [[[item.shape for item in part or ()] for part in each] for each in (found, wide_run)]
    return found if shapes[0] == shapes[1] else None


def evaluate(run, sample, type_of_case, second_order, seed, of_transform):
    """The keys of a case that hold its results. `run` takes what `sample` is, (args, kwargs)."""
    wide = mapped(sample, widened)
    draws = [(wide, None)] + [(mapped(wide, perturbed(seed, draw)), draw) for draw in range(DRAWS)]
    with double_default():
        runs = [evaluated(run, item, second_order, weights_of(seed, draw)) for item, draw in draws]
    shapes = [[item.shape for item in found[0]] for found in runs]
    if any(other != shapes[0] for other in shapes):
        raise NotData('a result whose shape depends on the last bits')
    narrow = [in_single_precision(run, item, second_order, weights_of(seed, draw), found)
              for (item, draw), found in zip(draws, runs)]
    types = own_types(run, sample, runs[0][0], type_of_case)
    return encoded_results(runs, types, type_of_case, narrow, largest_of(tensors_of(wide)), of_transform)


# ---- OpInfo

def seeded(*names):
    seed = zlib.crc32('/'.join(names).encode())
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    return seed


def run_of(op):
    def run(arguments):
        (first, *rest), kwargs = arguments
        return CANONICAL.get(op.name, lambda value: value)(op(first, *rest, **kwargs))
    return run


def with_positive_diagonal(parts):
    """Q and R with the signs for which the diagonal of R is positive: a convention of the library."""
    q, r = parts
    signs = torch.sgn(torch.diagonal(r, dim1=-2, dim2=-1)).detach()
    rows = torch.cat([signs, torch.ones(*signs.shape[:-1], r.shape[-2] - signs.shape[-1], dtype=signs.dtype)], -1)
    columns = torch.cat([signs, torch.ones(*signs.shape[:-1], q.shape[-1] - signs.shape[-1], dtype=signs.dtype)], -1)
    return q * columns.unsqueeze(-2), r * rows.unsqueeze(-1)


CANONICAL = {'qr': with_positive_diagonal, 'linalg.qr': with_positive_diagonal}


def samples(op, dtype):
    """(args, kwargs) of the samples of an op."""
    floating = dtype.is_floating_point or dtype.is_complex
    wants_gradient = floating and op.supports_autograd
    made = op.sample_inputs('cpu', dtype, requires_grad=wants_gradient)
    for count, sample in enumerate(made):
        if count == MOST_SAMPLES:
            return
        yield [sample.input, *sample.args], dict(sorted(sample.kwargs.items()))


def cases_of(op, report):
    """The cases of an op in all dtypes; `report` counts those that are none, by reason."""
    for dtype in DTYPES:
        known = op.supported_dtypes('cpu') | ({torch.float16} if torch.float32 in op.supported_dtypes('cpu') else set())
        if dtype not in known:
            continue
        seed = seeded(key_of(op), str(dtype))
        try:
            made = list(samples(op, dtype))
        except Exception as e:
            report(op, f'no samples of {dtype}: {type(e).__name__}')
            continue
        for number_of_sample, sample in enumerate(made):
            case = case_of(op, dtype, sample, number_of_sample, seed, report)
            if case:
                yield case


def head_of(key, at, kind, sample):
    """The keys of a case that hold its arguments."""
    args, kwargs = sample
    if key == '__getitem__' and isinstance(args[1], list) and all(isinstance(index, int) for index in args[1]):
        args = [args[0], torch.tensor(args[1])]  # the list is one index, a tuple would have one for each axis
    return {'op': key, 'n': at, 't': kind, 'args': encode(args, kind),
            'kwargs': {name: encode(value, kind) for name, value in kwargs.items() if name not in OF_STORAGE}}


def case_of(op, dtype, sample, at, seed, report):
    try:
        short = mapped(list(sample), shortened)
        if sum(tensor.numel() for tensor in tensors_of(short)) > MOST_ELEMENTS:
            return report(op, 'large operands')
        second = op.supports_gradgrad and (dtype.is_floating_point or dtype.is_complex)
        results = evaluate(run_of(op), short, NAMES[dtype], second, seed + at, op.name.startswith('fft.'))
        head = head_of(key_of(op), at, NAMES[dtype], short)
    except NotData as e:
        return report(op, f'not data: {e}')
    except Exception as e:
        return report(op, f'PyTorch throws {type(e).__name__}')
    return {**head, **results}


def error_cases_of(op, report):
    """Arguments that PyTorch rejects."""
    if op.error_inputs_func is None:
        return
    seeded(key_of(op), 'errors')
    try:
        made = list(op.error_inputs('cpu'))
    except Exception as e:
        report(op, f'no error inputs: {type(e).__name__}')
        return
    for at, item in enumerate(made):
        sample = item.sample_input
        try:
            args, kwargs = mapped([[sample.input, *sample.args], dict(sample.kwargs)],
                                  lambda value: value if isinstance(value, torch.dtype) else value.detach())
            kind = next((NAMES[tensor.dtype] for tensor in tensors_of([args, kwargs])), 'float32')
            yield {**head_of(key_of(op), at, kind, [args, kwargs]), 'error': str(item.error_regex)[:60]}
        except (NotData, KeyError) as e:
            report(op, f'not data: {e}')


def all_cases(known, report):
    """The cases of ops that `known` has, by name or by name and variant."""
    warnings.simplefilter('ignore')
    for op in op_db:
        if key_of(op) in known or op.name in known:
            yield from cases_of(op, report)
            yield from error_cases_of(op, report)
