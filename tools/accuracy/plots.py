#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plots.py [PROGRAM]: draws the figures of docs/accuracy.md, errors of float32 along the operand.

PROGRAM is kerngrad-accuracy, by default that of build/. Each figure has the errors of an op and of its gradient.
"""
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# op, its name in text, interval, ticks of the operand
FIGURES = [('Exp', 'exp', -100, 88, [-100, -75, -50, -25, 0, 25, 50, 75]),
           ('Gelu', 'gelu', -13, 6, [-12, -9, -6, -3, 0, 3, 6])]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 780, 430, 64, 770, 92, 360
STYLE = '''text { fill: #1f2328 }
.quiet { fill: #59636e }
.grid { stroke: #d1d9e0 }
.value { stroke: #0969da; fill: none }
.gradient { stroke: #bc4c00; fill: none; stroke-dasharray: 6 3 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc }
.quiet { fill: #9198a1 }
.grid { stroke: #3d444d }
.value { stroke: #4493f8 }
.gradient { stroke: #db6d28 }
}'''


def curve(program, op, low, high, *options):
    done = subprocess.run([program, op, '--curve', str(low), str(high), *options], check=True, capture_output=True,
                          text=True)
    return [tuple(float(cell) for cell in line.split(',')) for line in done.stdout.splitlines()]


def largest(points):
    x, ulp = max(points, key=lambda point: point[1])
    return f'at most {ulp:.2g} near {x:.2g}'


def svg(name, values, gradients, low, high, ticks):
    most = math.log2(max(2, max(ulp for _, ulp in values + gradients)) * 1.1)

    def x_of(x):
        return LEFT + (x - low) / (high - low) * (RIGHT - LEFT)

    def y_of(ulp):  # a quarter of a unit at the bottom
        return BOTTOM - (math.log2(max(ulp, 0.25)) + 2) / (most + 2) * (BOTTOM - TOP)

    def path(points, kind):
        steps = ' '.join(f'{"L" if at else "M"}{x_of(x):.1f} {y_of(ulp):.1f}' for at, (x, ulp) in enumerate(points))
        return f'<path class="{kind}" stroke-width="2" d="{steps}"/>'

    title = (f'Errors of {name} and of its gradient in units in the last place of float32, for operands from {low} to '
             f'{high}: {name} errs by {largest(values)}, the gradient by {largest(gradients)}.')
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
             'font-family="system-ui, sans-serif" font-size="20">', f'<title>{title}</title>',
             f'<style>\n{STYLE}\n</style>',
             f'<text x="0" y="26" font-weight="bold">Largest error of {name}, in units in the last place</text>',
             '<path class="value" stroke-width="3" d="M0 58 H44"/><text x="54" y="65">value</text>',
             '<path class="gradient" stroke-width="3" d="M150 58 H194"/><text x="204" y="65">gradient</text>']
    ulp = 0.25
    while math.log2(ulp) <= most:
        y = y_of(ulp)
        lines.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}"/>')
        lines.append(f'<text class="quiet" x="{LEFT - 8}" y="{y + 7:.1f}" text-anchor="end">{ulp:g}</text>')
        ulp *= 2 if most < 6 else 4
    for tick in ticks:
        lines.append(f'<line class="grid" x1="{x_of(tick):.1f}" y1="{TOP}" x2="{x_of(tick):.1f}" y2="{BOTTOM}"/>')
        lines.append(f'<text class="quiet" x="{x_of(tick):.1f}" y="{BOTTOM + 28}" text-anchor="middle">{tick}</text>')
    lines += [path(values, 'value'), path(gradients, 'gradient'),
              f'<text class="quiet" x="{(LEFT + RIGHT) / 2:g}" y="{BOTTOM + 58}" text-anchor="middle">operand</text>',
              '</svg>', '']
    return '\n'.join(lines)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build/tools/accuracy/kerngrad-accuracy'
    for op, name, low, high, ticks in FIGURES:
        values, gradients = curve(program, op, low, high), curve(program, op, low, high, '--gradients')
        (ROOT / f'docs/pictures/accuracy-{name}.svg').write_text(svg(name, values, gradients, low, high, ticks))
        print(name, 'value', largest(values), 'gradient', largest(gradients))


if __name__ == '__main__':
    main()
