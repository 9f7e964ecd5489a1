#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gallery.py [--check]: figures of the gallery, made of the images that its programs write: 800 units wide, with axes
and labels. Also writes a small still image of each program for the index. --check exits 1 if one is stale.

Each figure holds a digest of its image.
"""
import base64
import hashlib
import html
import pathlib
import re
import struct
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'gallery'
WIDTH, THUMBNAIL, TEXT, COLOUR = 800, 200, 20, '#6e7781'  # a colour that light and dark pages show

STRIP = {'panels': ['start', '16 steps', '32 steps', '48 steps', '64 steps', '80 steps']}
# Axes of an image: (label, value at its beginning, value at its end). Panels are parts of equal width.
IMAGES = {
    'wave': {'words': 'Six images of a membrane: a round wave runs outwards and is reflected at the rim', **STRIP},
    'wave': {'words': 'Six images of a membrane: a round wave runs outwards, the rim reflects it', **STRIP},
    'spectrogram': {'words': 'Spectrogram: a line that rises from 200 to 1800 Hz and a level one at 3000 Hz',
                    'x': ('time in s', '0.02', '0.98'), 'y': ('frequency in Hz', '0', '4000')},
    'restore': {'words': 'A blurred and noisy ball on the left, a clear one on the right',
                'panels': ['photo', 'restored']},
    'fit': {'words': 'Noisy points, a decaying oscillation through them, and its band of uncertainty',
            'x': ('t', '0', '3'), 'y': ('value', '-1.2', '1.2')},
    'gaussian_process': {'words': 'Noisy points, a curve through them, and its band, which is wide without points',
                         'x': ('x', '0', '10'), 'y': ('value', '-1.8', '1.8')},
    'kalman': {'words': 'Noisy positions around a figure eight, a smooth track through them, and its band',
               'x': ('x', '-4', '4'), 'y': ('y', '-2', '2')},
    'field': {'words': 'A flow that winds into a closed curve', 'x': ('position', '-3', '3'),
              'y': ('velocity', '-3', '3')},
    'segment': {'words': 'On the left a drawn person before a grey wall, on the right the same before rays',
                'panels': ['image', 'new background']}}


def size_of(png):
    return struct.unpack('>II', png[16:24])


def digest(data):
    return hashlib.sha256(data).hexdigest()[:12]


def text(x, y, words, anchor='middle', turned=False):
    turn = f' transform="rotate(-90 {x:g} {y:g})"' if turned else ''
    return (f'<text x="{x:g}" y="{y:g}" fill="{COLOUR}" font-size="{TEXT}" text-anchor="{anchor}"{turn}>'
            f'{html.escape(words)}</text>')


def image(png, x, y, width, height):
    return (f'<image x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" preserveAspectRatio="none" '
            f'style="image-rendering: pixelated" href="data:image/png;base64,{base64.b64encode(png).decode()}"/>')


def svg(width, height, words, body, data, size=''):
    return '\n'.join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"{size} role="img" '
                      'font-family="system-ui, sans-serif">', f'<title>{html.escape(words)}</title>', *body,
                      f'<!-- data: {digest(data)} -->', '</svg>', ''])


def framed(png, words, panels=(), x=None, y=None):
    """The image with a label over each panel, and axes with their ends."""
    columns, rows = size_of(png)
    left, top, right = (80 if y else 0), (30 if panels else 10), (20 if x else 0)
    width = WIDTH - left - right
    height = round(width * rows / columns) if columns < 4 * rows or panels else width / 2
    height = min(height, 640)
    width = min(width, round(height * columns / rows)) if columns <= rows else width
    body, bottom = [image(png, left, top, width, height)], top + height
    for at, label in enumerate(panels):
        body.append(text(left + (at + 0.5) * width / len(panels), top - 8, label))
    if x:
        label, begin, end = x
        body += [text(left, bottom + 24, begin), text(left + width, bottom + 24, end),
                 text(left + width / 2, bottom + 24, label)]
    if y:
        label, begin, end = y
        body += [text(left - 8, bottom, begin, 'end'), text(left - 8, top + TEXT * 0.8, end, 'end'),
                 text(left - 40, top + height / 2, label, turned=True)]
    return svg(WIDTH, bottom + (34 if x else 4), words, body, png, f' width="{WIDTH}"')


def thumbnail(png, words):
    columns, rows = size_of(png)
    height = round(THUMBNAIL * rows / columns)
    return svg(THUMBNAIL, height, words, [image(png, 0, 0, THUMBNAIL, height)], png,
               f' width="{THUMBNAIL}" height="{height}"')


def still(animation):
    """The animation without what moves."""
    quiet = re.sub(r'<path class="moving".*?</path>|<style>.*?</style>', '', animation, flags=re.DOTALL)
    drawn = quiet.replace('<path class="still"', '<path fill="#10243c" stroke="#9fd0ff"')
    data = f'\n<!-- data: {digest(animation.encode())} -->\n</svg>\n'
    return drawn.rstrip().removesuffix('</svg>').rstrip().replace('<svg ', f'<svg width="{THUMBNAIL}" ', 1) + data


def fresh():
    """file -> text of all figures and thumbnails."""
    made = {'thumb-animation.svg': still((FOLDER / 'animation.svg').read_text())}
    for name, frame in IMAGES.items():
        png = (FOLDER / f'{name}.png').read_bytes()
        made[f'{name}.svg'] = framed(png, **frame)
        made[f'thumb-{name}.svg'] = thumbnail(png, frame['words'])
    return made


def main():
    made = fresh()
    if sys.argv[1:] == ['--check']:
        stale = [name for name, words in made.items()
                 if not (FOLDER / name).exists() or (FOLDER / name).read_text() != words]
        sys.exit(f'docs/gallery: {", ".join(stale)}: stale; ./dev docs draws them' if stale else 0)
    if sys.argv[1:]:
        sys.exit(__doc__.strip())
    for name, words in made.items():
        (FOLDER / name).write_text(words)


if __name__ == '__main__':
    main()
