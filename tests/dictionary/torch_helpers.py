# SPDX-License-Identifier: Apache-2.0
"""Names of the dictionary's code besides PyTorch and the operands."""
import numpy as np
import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn
from torch.utils import _pytree


def f(t):
    return torch.sum(torch.sin(t) * t)


def g(t):
    return torch.sum(torch.sin(t) * t, 1)


def f2(s, t):
    return torch.sum(torch.exp(s) * t)


def nchw(image):
    return image.permute(0, 3, 1, 2)


def nhwc(image):
    return image.permute(0, 2, 3, 1)


def ncdhw(volume):
    return volume.permute(0, 4, 1, 2, 3)


def ndhwc(volume):
    return volume.permute(0, 2, 3, 4, 1)


def oihw(filter):
    """A filter [height, width, in, out] as PyTorch has it."""
    return filter.permute(3, 2, 0, 1)


def oidhw(filter):
    """A filter [depth, height, width, in, out] as PyTorch has it."""
    return filter.permute(4, 3, 0, 1, 2)


def grad_of(function, *at):
    """The gradients of a function at tensors, as `torch.autograd.grad` gives them."""
    leaves = [t.clone().requires_grad_() for t in at]
    return torch.autograd.grad(function(*leaves), leaves)


def changed(tensor, change):
    """A copy of a tensor that a function changed in place."""
    copy = tensor.clone()
    change(copy)
    return copy


def steps_of(optimizer, scale=1, **options):
    """A variable after the three steps of results.h."""
    moved = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    steps = optimizer([moved], **options)
    for gradient in ([0.5, -1.0, 0.75], [-0.25, 2.0, 0.5], [1.0, 0.5, -0.25]):
        moved.grad = scale * torch.tensor(gradient)
        steps.step()
    return moved


def clipped(clip, most):
    """The gradients of results.h, clipped in place."""
    parameters = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))]
    parameters[0].grad, parameters[1].grad = torch.tensor([3.0, 4.0]), torch.tensor([12.0])
    clip(parameters, most)
    return [parameter.grad for parameter in parameters]


def lstm_cell(kernel, bias, data, c, h):
    """nn.LSTMCell with the weights of a cell here: other order of the gates, and 1 on the forget gate's bias."""
    inputs, units = data.shape[1], h.shape[1]
    gates = [part.T for part in kernel.split(units, 1)]  # input, new, forget, output
    biases = bias.split(units)
    weights = torch.cat([gates[i] for i in (0, 2, 1, 3)])
    cell = nn.LSTMCell(inputs, units)
    cell.load_state_dict({'weight_ih': weights[:, :inputs], 'weight_hh': weights[:, inputs:],
                          'bias_ih': torch.cat([biases[0], biases[2] + 1, biases[1], biases[3]]),
                          'bias_hh': torch.zeros(4 * units)})
    return cell(data, (h, c))


def rates_of(scheduler, rate, **options):
    """The rates of the steps that results.h asks for."""
    steps = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)
    rates = scheduler(steps, **options)
    seen = []
    for _ in range(251):
        seen.append(rates.get_last_lr()[0])
        steps.step()
        rates.step()
    return torch.tensor([seen[step] for step in (0, 3, 10, 50, 99, 100, 150, 250)], dtype=torch.float64)


def lstm_layer(layer, data, kernel, recurrent, gates):
    """The outputs of a recurrent layer without biases from a first state of zeros."""
    first = torch.zeros(1, data.shape[1], recurrent.shape[0])
    return layer(data, (first, first) if gates == 4 else first, [kernel.T, recurrent.T], False, 1, 0.0, False, False,
                 False)[0]
