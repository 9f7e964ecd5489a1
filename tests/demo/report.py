#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.py DEMO: the page of a run needs nothing else, and its numbers and pictures are those of the run."""
import base64
import gzip
import html.parser
import json
import pathlib
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

DATA = pathlib.Path('/usr/share/datasets/fashion-mnist')
NAMES = ['T-shirt/top', 'Trouser', 'Pullover', 'Dress', 'Coat', 'Sandal', 'Shirt', 'Sneaker', 'Bag', 'Ankle boot']
VOID = {'meta', 'img'}
KNOWN = VOID | set('html head title style body main header section h1 h2 p dl dt dd svg desc g path rect text details '
                   'summary div table thead tbody tr th td figure figcaption b span'.split())
PICTURE = 'data:image/png;base64,'
demo = sys.argv[1]


def run(*arguments, **more):
    return subprocess.run([demo, '--limit', '1000', *map(str, arguments)], capture_output=True, text=True, **more)


class Element:
    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children = tag, attributes, []

    def all(self, tag, **wanted):
        """The elements of that tag below this one, in their order."""
        for child in self.children:
            if isinstance(child, Element):
                if child.tag == tag and wanted.items() <= child.attributes.items():
                    yield child
                yield from child.all(tag, **wanted)

    def text(self):
        return ''.join(child if isinstance(child, str) else child.text() for child in self.children)

    def texts(self, tag):
        return [element.text() for element in self.all(tag)]


class Page(html.parser.HTMLParser):
    """The tree of a page in which every element is closed where it was opened."""

    def __init__(self, text):
        super().__init__()
        self.open = [Element('page', {})]
        self.feed(text)
        self.close()
        assert len(self.open) == 1, f'{self.open[-1].tag} is not closed'
        self.root = self.open[0]

    def handle_starttag(self, tag, attributes):
        assert tag in KNOWN, f'<{tag}> on the page'
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names) and not any(name.startswith('on') for name in names), names
        element = Element(tag, dict(attributes))
        self.open[-1].children.append(element)
        if tag not in VOID and not self.get_starttag_text().endswith('/>'):
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag, f'</{tag}> closes another element'

    def handle_data(self, text):
        self.open[-1].children.append(text)


def pixels(source):
    """(width, channels, rows) of a PNG of 8 bits, its rows without their filters."""
    assert source.startswith(PICTURE), source[:40]
    data, at, packed = base64.b64decode(source[len(PICTURE):], validate=True), 8, b''
    while at < len(data):
        (length,), kind = struct.unpack_from('>I', data, at), data[at + 4:at + 8]
        assert zlib.crc32(data[at + 4:at + 8 + length]) == struct.unpack_from('>I', data, at + 8 + length)[0]
        if kind == b'IHDR':
            width, height, depth, color = struct.unpack_from('>IIBB', data, at + 8)
        packed += data[at + 8:at + 8 + length] if kind == b'IDAT' else b''
        at += 12 + length
    channels = {0: 1, 6: 4}[color]
    assert depth == 8
    raw, size, rows = zlib.decompress(packed), width * channels, [bytes(width * channels)]
    for y in range(height):
        kind, line = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
        for x in range(size):
            left, above = line[x - channels] if x >= channels else 0, rows[-1][x]
            corner = rows[-1][x - channels] if x >= channels else 0
            nearest = min((left, above, corner), key=lambda value: abs(left + above - corner - value))
            line[x] = line[x] + (0, left, above, (left + above) // 2, nearest)[kind] & 255
        rows.append(bytes(line))
    return width, channels, rows[1:]


def check_structure(text, with_loss=True):
    """Nothing of the page comes from elsewhere or runs, and what is drawn is said in words."""
    without_pictures = re.sub(PICTURE + '[A-Za-z0-9+/=]+', '', text)
    assert text.isascii() and not re.search(r'https?:|//|url\(|@import|javascript:', without_pictures)
    tree = Page(text).root
    policy = next(tree.all('meta', **{'http-equiv': 'Content-Security-Policy'})).attributes['content']
    assert policy.startswith("default-src 'none';") and 'script' not in policy
    assert 'prefers-color-scheme: dark' in text and 'width=device-width' in text
    identified = [e for tag in KNOWN for e in tree.all(tag) if 'id' in e.attributes]
    by_id = {e.attributes['id']: e for e in identified}
    assert len(by_id) == len(identified), 'an id occurs twice'
    charts = list(tree.all('svg'))
    assert len(charts) == (3 if with_loss else 2)
    for element in [*charts, *tree.all('section')]:
        for name in element.attributes['aria-labelledby'].split():
            assert len(by_id[name].text()) > 3, name
    for chart in charts:
        assert chart.attributes['role'] == 'img'
        for tag in ('path', 'rect', 'text'):
            for shape in chart.all(tag):
                assert not re.search('nan|inf', ' '.join(shape.attributes.values())), shape.attributes
    for picture in tree.all('img'):
        assert set(picture.attributes) <= {'alt', 'title', 'width', 'height', 'src'} and picture.attributes['alt']
    return tree


def section(tree, name):
    return next(tree.all('section', **{'aria-labelledby': name + '-heading'}))


def check_numbers(tree, printed):
    """Compares the demo's output with the page."""
    share = re.search(r'^test accuracy: (\S+)$', printed, re.MULTILINE).group(1)
    assert next(tree.all('p', id='accuracy')).text() == share and next(tree.all('title')).text().endswith(share)
    epochs = re.findall(r'^epoch (\d+)/\d+  loss (\S+)  test accuracy (\S+)  ', printed, re.MULTILINE)
    if epochs:
        rows = [row.texts('th') + row.texts('td') for row in section(tree, 'loss').all('tr')]
        assert rows[1:] == [list(epoch) for epoch in epochs], rows
        told = section(tree, 'loss').texts('desc')[0]
        assert f'{epochs[0][1]}, that of the last {epochs[-1][1]}.' in told, told
    matrix = [line[13:].split() for line in printed.splitlines() if re.match(r'\d \D{11}( +(\d+|\.)){10} ', line)]
    assert len(matrix) == 10
    matrix = [['0' if cell == '.' else cell for cell in row] for row in matrix]
    rows = [row.texts('td') for row in section(tree, 'confusion').all('tr')][1:]
    assert rows == matrix, (rows, matrix)
    assert section(tree, 'classes').texts('text')[1::2] == [row[-1] for row in matrix]
    cells = [element.texts('title')[0] for element in section(tree, 'confusion').all('g')]
    assert cells == [f'{NAMES[t]} taken for {NAMES[p]}: {matrix[t][p]}' for t in range(10) for p in range(10)]
    return sum(int(matrix[t][p]) for t in range(10) for p in range(10) if t != p)


def check_mistakes(tree, count):
    images = gzip.decompress((DATA / 't10k-images-idx3-ubyte.gz').read_bytes())[16:]
    labels = gzip.decompress((DATA / 't10k-labels-idx1-ubyte.gz').read_bytes())[8:]
    figures = list(section(tree, 'mistakes').all('figure'))
    assert len(figures) == min(15, count)
    for figure in figures:
        picture = next(figure.all('img')).attributes
        index = int(re.fullmatch(r'test image (\d+)', picture['alt']).group(1))
        width, channels, rows = pixels(picture['src'])
        assert (width, channels) == (28, 1) and b''.join(rows) == images[784 * index:784 * (index + 1)]
        own = figure.texts('b')[0]
        taken, share = re.fullmatch(r'(.*) (\S+)%', next(figure.all('figcaption')).text()[len(own):]).groups()
        assert own == NAMES[labels[index]] and taken in NAMES and taken != own and 10 <= float(share) <= 100
    return len(figures)


def check_filters(tree, weights, name, count, side):
    data = weights.read_bytes()
    length = struct.unpack_from('<Q', data)[0]
    begin, end = json.loads(data[8:8 + length])[name]['data_offsets']
    values = struct.unpack(f'<{(end - begin) // 4}f', data[8 + length + begin:8 + length + end])
    largest = max(map(abs, values))
    part = section(tree, 'filters')
    assert next(part.all('span')).text() == f'{largest:.4f}'
    pictures = [pixels(element.attributes['src']) for element in part.all('img')]
    assert len(pictures) == count and len(values) == count * side * side
    for unit, (width, channels, rows) in enumerate(pictures):
        shown = b''.join(rows)
        assert (width, channels, len(rows)) == (side, 4, side)
        for pixel in range(side * side):  # the filters' numbers lie side by side
            value, (red, _, blue, opacity) = values[pixel * count + unit], shown[4 * pixel:4 * pixel + 4]
            assert abs(opacity - 255 * abs(value) / largest) <= 0.51, (unit, pixel)
            assert opacity == 0 or (red > blue) == (value > 0)


def refused(result, *words):
    assert result.returncode == 2, f'exit {result.returncode}\n{result.stdout}{result.stderr}'
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].isprintable() and all(word in lines[0] for word in words), result.stderr
    assert 'epoch' not in result.stdout, 'it was refused after the work'


def no_large_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def check_runs(scratch):
    for model, name, count, side in (('mlp', 'dense1.weight', 128, 28), ('cnn', 'conv1.weight', 32, 3)):
        page, weights = scratch / f'{model} <b onload="x">&\'.html', scratch / f'{model}"><b>\x1b.safetensors'
        arguments = ['--model', model, '--epochs', 2, '--batch', 100, '--report', page, '--save', weights]
        result = run(*arguments)
        assert result.returncode == 0, result.stderr
        tree = check_structure(page.read_text())
        assert check_mistakes(tree, check_numbers(tree, result.stdout)) == 15
        check_filters(tree, weights, name, count, side)
        first = page.read_bytes()
        assert run(*arguments).returncode == 0 and page.read_bytes() == first, 'the same run wrote another page'

        # Without training there is no curve; the name of a file is text.
        result = run('--model', model, '--load', weights, '--report', page)
        tree = check_structure(page.read_text(), with_loss=False)
        check_mistakes(tree, check_numbers(tree, result.stdout))
        assert str(weights).replace('\x1b', '%1B') in tree.texts('dd')
    assert not list(scratch.glob('*.part'))


def check_a_network_that_diverged(scratch):
    weights, page = scratch / 'mlp"><b>\x1b.safetensors', scratch / 'diverged.html'
    data = bytearray(weights.read_bytes())
    data[-4:] = struct.pack('<f', float('nan'))
    (scratch / 'nan.safetensors').write_bytes(data)
    result = run('--model', 'mlp', '--load', scratch / 'nan.safetensors', '--epochs', 1, '--report', page)
    assert result.returncode == 0 and 'loss nan' in result.stdout, result.stderr
    tree = check_structure(page.read_text())
    check_numbers(tree, result.stdout)
    assert len(list(section(tree, 'mistakes').all('figure'))) == 15


def check_refusals(scratch):
    short = ['--model', 'mlp', '--epochs', 1]
    refused(run(*short, '--report', scratch / 'no\nwhere\x1b[2J' / 'a.html'), 'a.html', 'cannot be written')
    refused(run(*short, '--report', scratch), 'no regular file')
    refused(run(*short, '--report', '/dev/null'), '/dev/null', 'no regular file')
    refused(run(*short, '--report', scratch / 'same', '--save', scratch / '.' / 'x' / '..' / 'same'), 'same')
    old = scratch / 'old.html'
    old.write_text('as it was')
    full = run(*short, '--report', old, preexec_fn=no_large_files)
    assert full.returncode == 2 and len(full.stderr.splitlines()) == 1 and 'to its end' in full.stderr, full.stderr
    assert old.read_text() == 'as it was' and not list(scratch.glob('*.part'))


with tempfile.TemporaryDirectory() as folder:
    check_runs(pathlib.Path(folder))
    check_a_network_that_diverged(pathlib.Path(folder))
    check_refusals(pathlib.Path(folder))
