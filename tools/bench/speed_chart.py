# SPDX-License-Identifier: Apache-2.0
"""The figure of README: how fast cases are compared with the best peer, as SVG for light and for dark pages."""
import math

# The cases that are shown: (id, case, size) of the table of docs/performance.md, and how the figure names them.
SHOWN = [('A4', 'add_fresh', '64', 'add, 64 elements'), ('B2', 'add', '1000000', 'add, 1,000,000 elements'),
         ('B4', 'exp', '1000000', 'exp, 1,000,000 elements'), ('C3', 'softmax', '1024x1024', 'softmax, 1024 x 1024'),
         ('C5', 'argmax', '1024x1024', 'argmax, 1024 x 1024'), ('G5', 'cumsum', '1024x1024', 'cumsum, 1024 x 1024'),
         ('G1', 'transpose', '1024x1024', 'transpose, 1024 x 1024'),
         ('D1', 'matmul', '1024x1024x1024', 'matmul, 1024 x 1024 x 1024'),
         ('E1', 'conv3x3', '1x56x56x64', 'convolution 3 x 3'),
         ('E3', 'depthwise3x3', '1x56x56x64', 'depthwise convolution'),
         ('F4', 'gelu4_value_grad@fused', '64000', 'fused value and gradient'),
         ('F5', 'mlp_step', '64x784-128-10', 'training step')]
PEERS = {'eigen': 'Eigen', 'onednn': 'oneDNN', 'torch': 'libtorch', 'torch_tuned': 'libtorch', 'xtensor': 'xtensor',
         'libxsmm': 'LIBXSMM', 'xnnpack': 'XNNPACK', 'sleef': 'SLEEF'}
COLOURS = {
    'light': {'text': '#1f2328', 'quiet': '#59636e', 'line': '#d1d9e0', 'faster': '#0969da', 'slower': '#bc4c00'},
    'dark': {'text': '#f0f6fc', 'quiet': '#9198a1', 'line': '#3d444d', 'faster': '#4493f8', 'slower': '#db6d28'}}
# In units of the figure. At 390 pixels a unit is half a pixel, so that text of 21 units can be read on a phone.
WIDTH, TOP, ROW, BAR, TEXT = 780, 96, 40, 24, 21
AXIS, PER_DOUBLING = 450, 50  # where 1x is, and the width of a factor of 2
TICKS = [0.5, 1, 2, 4, 8]


def place(speed):
    return AXIS + PER_DOUBLING * math.log2(speed)


def text(x, y, words, colour, anchor='start', weight='normal', size=TEXT):
    return (f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size}" font-weight="{weight}" '
            f'text-anchor="{anchor}">{words}</text>')


def row(at, label, speed, peer, colours):
    """A case: its name, a bar from 1x to its speed, and the speed with the peer's name."""
    middle, end = TOP + ROW * at + ROW / 2, place(speed)
    colour = colours['faster' if speed >= 1 else 'slower']
    yield text(0, middle + 7, label, colours['text'])
    yield (f'<rect x="{min(end, AXIS):.1f}" y="{middle - BAR / 2:g}" width="{max(abs(end - AXIS), 1):.1f}" '
           f'height="{BAR}" fill="{colour}"/>')
    yield text(max(end, AXIS) + 8, middle + 7, f'{speed:.2g}x {PEERS[peer]}', colours['text'])


def alternative(cases):
    """The figure in words, for readers who do not see it."""
    return 'Speed compared with the best peer: ' + ', '.join(
        f'{label} {speed:.2g}x {PEERS[peer]}' for label, speed, peer in cases)


def svg(cases, theme, machine):
    """`cases` has (label, speed compared with the peer, peer)."""
    colours, bottom = COLOURS[theme], TOP + ROW * len(cases)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 44}" role="img" '
             'font-family="system-ui, sans-serif">',
             f'<title>{alternative(cases)}</title>',
             text(0, 28, 'Speed compared with the fastest other library', colours['text'], weight='bold', size=25)]
    lines.append(text(0, 60, 'longer is faster; float32, one thread', colours['quiet']))
    for tick in TICKS:
        x = place(tick)
        lines.append(text(x, TOP - 8, f'{tick:g}x', colours['quiet'], 'middle'))
        lines.append(f'<line x1="{x:g}" y1="{TOP}" x2="{x:g}" y2="{bottom}" stroke="{colours["line"]}" '
                     f'stroke-width="{3 if tick == 1 else 1}"/>')
    for at, case in enumerate(cases):
        lines += row(at, *case, colours)
    lines += [text(0, bottom + 32, machine, colours['quiet']), '</svg>', '']
    return '\n'.join(lines)
