# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG for light and for dark pages: bars that compare, bars on a scale of logarithms, lines against sizes
and against time, heat maps.

A chart is 780 units wide. At 390 pixels a unit is half a pixel, so that text of 21 units can be read on a phone. Each
chart ends with a digest of its data.
"""
import hashlib
import html
import math

COLOURS = {
    'light': {'text': '#1f2328', 'quiet': '#59636e', 'line': '#d1d9e0', 'faster': '#0969da', 'slower': '#bc4c00',
              'other': '#6e7781', 'third': '#1a7f37'},
    'dark': {'text': '#f0f6fc', 'quiet': '#9198a1', 'line': '#3d444d', 'faster': '#4493f8', 'slower': '#db6d28',
             'other': '#8b949e', 'third': '#3fb950'}}
WIDTH, TOP, TEXT = 780, 96, 21
# Colour and mark of each side in charts of lines: marks tell them apart without colours.
SIDES = {'kerngrad': ('faster', 'circle'), 'Eigen': ('slower', 'square'), 'libtorch': ('other', 'up'),
         'oneDNN': ('third', 'down')}


def digest(data):
    """Twelve digits that tell other data from this."""
    return hashlib.sha256(repr(data).encode()).hexdigest()[:12]


def text(x, y, words, colour, anchor='start', weight='normal', size=TEXT):
    return (f'<text x="{x:g}" y="{y:g}" fill="{colour}" font-size="{size}" font-weight="{weight}" '
            f'text-anchor="{anchor}">{html.escape(words)}</text>')


def rect(x, y, width, height, colour):
    return f'<rect x="{x:.1f}" y="{y:g}" width="{max(width, 1):.1f}" height="{height:g}" fill="{colour}"/>'


def line(x1, y1, x2, y2, colour, width=1):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width:g}"/>')


def framed(theme, height, words, title, subtitle, source, data, body):
    """The whole chart: `words` say what it shows to readers who do not see it."""
    colours = COLOURS[theme]
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="system-ui, sans-serif">',
        f'<title>{html.escape(words)}</title>',
        text(0, 28, title, colours['text'], weight='bold', size=25),
        text(0, 60, subtitle, colours['quiet']),
        *body,
        text(0, height - 12, source, colours['quiet']),
        f'<!-- data: {digest(data)} -->', '</svg>', ''])


def speed_bars(cases, theme, source, title='Speed compared with the fastest other library', row=40, bar=24,
               size=TEXT):
    """`cases` has (label, speed compared with the peer, name of the peer): a bar from 1x to the speed of each."""
    colours, axis, per_doubling, bottom = COLOURS[theme], 450, 50, TOP + row * len(cases)
    most = 2 ** ((WIDTH - 130 - axis) / per_doubling)  # longer bars end there: their numbers say how fast

    def place(speed):
        return axis + per_doubling * math.log2(min(speed, most))

    body = []
    for tick in (0.5, 1, 2, 4, 8):
        body.append(text(place(tick), TOP - 8, f'{tick:g}x', colours['quiet'], 'middle'))
        body.append(line(place(tick), TOP, place(tick), bottom, colours['line'], 3 if tick == 1 else 1))
    for at, (label, speed, peer) in enumerate(cases):
        middle, end = TOP + row * at + row / 2, place(speed)
        body += [text(0, middle + 7, label, colours['text'], size=size),
                 rect(min(end, axis), middle - bar / 2, abs(end - axis), bar,
                      colours['faster' if speed >= 1 else 'slower']),
                 text(max(end, axis) + 8, middle + 7, f'{speed:.2g}x {peer}'.strip(), colours['text'], size=size)]
    words = f'{title}: ' + ', '.join(f'{label} {speed:.2g}x {peer}'.strip() for label, speed, peer in cases)
    return framed(theme, bottom + 44, words, title,
                  'longer is faster; float32, one thread', source, cases, body)


def value_bars(groups, theme, title, subtitle, source, shown, least, most, ticks):
    """`groups` has (label, [(side, value)]): bars on a scale of logarithms from `least` to `most`. kerngrad's is first.

    `shown` makes the text of a value.
    """
    colours, axis, bar, body, y = COLOURS[theme], 330, 24, [], TOP
    height = TOP + sum(30 * len(bars) + 14 for _, bars in groups)

    def place(value):
        return axis + (WIDTH - 190 - axis) * math.log(value / least) / math.log(most / least)

    for tick in ticks:
        body.append(text(place(tick), TOP - 8, shown(tick), colours['quiet'], 'middle'))
        body.append(line(place(tick), TOP, place(tick), height - 8, colours['line']))
    for label, bars in groups:
        for at, (side, value) in enumerate(bars):
            if at == 0:
                body.append(text(0, y + 20, label, colours['text']))
            body += [rect(axis, y + 2, place(value) - axis, bar, colours['faster' if side == 'kerngrad' else 'other']),
                     text(place(value) + 8, y + 21, f'{shown(value)} {side}', colours['text'])]
            y += 30
        y += 14
    words = f'{title}: ' + '; '.join(
        f'{label} ' + ', '.join(f'{side} {shown(value)}' for side, value in bars) for label, bars in groups)
    return framed(theme, height + 44, words, title, subtitle, source, groups, body)


def panel(name, lines, at, theme, shown):
    """Times against sizes, both as logarithms: a line of (size, time) for each side. The first one is on top."""
    colours = COLOURS[theme]
    left, top, width, height = at
    sizes = sorted({size for points in lines.values() for size, _ in points})
    times = [time for points in lines.values() for _, time in points]
    low, high = 10 ** math.floor(math.log10(min(times))), 10 ** math.ceil(math.log10(max(times)))

    def x(size):
        return left + 96 + (width - 120) * math.log(size / sizes[0]) / math.log(sizes[-1] / sizes[0])

    def y(time):
        return top + height - (height - 40) * math.log(time / low) / math.log(high / low)

    yield text(left + 96, top + 24, name, colours['text'], weight='bold')
    steps = round(math.log10(high / low))
    for step in range(0, steps + 1, max(1, steps // 3)):
        time = low * 10 ** step
        yield text(left + 88, y(time) + 7, shown(time), colours['quiet'], 'end')
        yield line(left + 96, y(time), left + width - 14, y(time), colours['line'])
    for size, anchor in ((sizes[0], 'start'), (sizes[-1], 'end')):
        yield text(x(size), top + height + 26, f'{size:,}', colours['quiet'], anchor)
    for side, points in reversed(lines.items()):
        yield from line_of(side, [(x(size), y(time)) for size, time in points], theme)


def line_of(side, points, theme):
    """A line with a mark at each point, each side with a colour and a mark of its own."""
    colour, mark = COLOURS[theme][SIDES[side][0]], SIDES[side][1]
    at = ' '.join(f'{x:.1f},{y:.1f}' for x, y in points)
    yield f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="3"/>'
    for x, y in points:
        if mark == 'circle':
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
        elif mark == 'square':
            yield f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="{colour}"/>'
        else:
            turn = 180 if mark == 'down' else 0
            yield (f'<path d="M-7,6 L7,6 L0,-7 Z" fill="{colour}" '
                   f'transform="translate({x:.1f},{y:.1f}) rotate({turn})"/>')


def legend(sides, theme):
    """The line of each side, with its name, below the subtitle."""
    left = 6
    for side in sides:
        yield from line_of(side, [(left, 82), (left + 20, 82), (left + 40, 82)], theme)
        yield text(left + 52, 89, side, COLOURS[theme]['text'])
        left += 72 + 13 * len(side)


def sides_of(panels):
    return list(dict.fromkeys(side for _, lines in panels for side in lines))


def size_lines(panels, theme, title, source, shown):
    """`panels` has (name, {side: [(size, time)]}), two in a row."""
    width, height = WIDTH / 2, 260
    body = list(legend(sides_of(panels), theme))
    for at, (name, lines) in enumerate(panels):
        body += panel(name, lines, ((at % 2) * width, TOP + 10 + (at // 2) * (height + 60), width, height), theme,
                      shown)
    words = f'{title}: ' + '; '.join(
        f'{name} ' + ', '.join(f'{side} ' + ' '.join(f'{size:,}: {shown(time)}' for size, time in points)
                               for side, points in lines.items()) for name, lines in panels)
    bottom = TOP + 10 + (len(panels) + 1) // 2 * (height + 60)
    return framed(theme, round(bottom + 44), words, title, 'both axes are logarithmic; float32, one thread', source,
                  panels, body)


def element_panel(name, points, marks, at, theme, shown):
    """Time for an element against size, both as logarithms: a line of (size, time), and a mark at (label, size)."""
    colours = COLOURS[theme]
    left, top, width, height = at
    times = [time for _, time in points]
    low, high = 10 ** math.floor(math.log10(min(times))), 10 ** math.ceil(math.log10(max(times)))

    def x(size):
        return left + 96 + (width - 120) * math.log(size / points[0][0]) / math.log(points[-1][0] / points[0][0])

    def y(time):
        return top + height - (height - 70) * math.log(time / low) / math.log(high / low)

    yield text(left + 96, top + 24, name, colours['text'], weight='bold')
    steps = round(math.log10(high / low))
    for step in range(0, steps + 1, max(1, steps // 3)):
        time = low * 10 ** step
        yield text(left + 88, y(time) + 7, shown(time), colours['quiet'], 'end')
        yield line(left + 96, y(time), left + width - 14, y(time), colours['line'])
    for label, size in marks:
        if points[0][0] < size < points[-1][0]:
            yield text(x(size), top + 52, label, colours['quiet'], 'middle')
            yield line(x(size), top + 60, x(size), top + height, colours['slower'])
    for (size, _), anchor in ((points[0], 'start'), (points[-1], 'end')):
        yield text(x(size), top + height + 26, f'{size:,}', colours['quiet'], anchor)
    places = ' '.join(f'{x(size):.1f},{y(time):.1f}' for size, time in points)
    yield f'<polyline points="{places}" fill="none" stroke="{colours["faster"]}" stroke-width="3"/>'


def element_lines(panels, theme, title, source, shown):
    """`panels` has (name, [(size, time for an element)], [(label, size)]), two in a row."""
    width, height, top = WIDTH / 2, 240, TOP - 20
    body = []
    for at, (name, points, marks) in enumerate(panels):
        body += element_panel(name, points, marks, ((at % 2) * width, top + (at // 2) * (height + 50), width, height),
                              theme, shown)
    words = f'{title}: ' + '; '.join(
        f'{name} ' + ', '.join(f'{size:,}: {shown(time)}' for size, time in points[::8]) for name, points, _ in panels)
    bottom = top + (len(panels) + 1) // 2 * (height + 50)
    return framed(theme, round(bottom + 44), words, title,
                  'both axes are logarithmic; upright lines: data as large as a cache', source, panels, body)


def accuracy_panel(name, lines, at, theme, shown):
    """Accuracy against time, from 0 seconds on: a line of (seconds, accuracy) for each side."""
    colours = COLOURS[theme]
    left, top, width, height = at
    most = max(seconds for points in lines.values() for seconds, _ in points)
    heights = [accuracy for points in lines.values() for _, accuracy in points]
    low, high = math.floor(min(heights) * 20) / 20, math.ceil(max(heights) * 20) / 20

    def x(seconds):
        return left + 60 + (width - 90) * seconds / most

    def y(accuracy):
        return top + height - (height - 40) * (accuracy - low) / (high - low)

    yield text(left + 60, top + 24, name, colours['text'], weight='bold')
    for step in range(round((high - low) * 20) + 1):
        accuracy = low + step / 20
        yield text(left + 52, y(accuracy) + 7, f'{accuracy:.2f}', colours['quiet'], 'end')
        yield line(left + 60, y(accuracy), left + width - 14, y(accuracy), colours['line'])
    for seconds, anchor in ((0, 'start'), (most, 'end')):
        yield text(x(seconds), top + height + 26, shown(seconds), colours['quiet'], anchor)
    for side, points in reversed(lines.items()):
        yield from line_of(side, [(x(seconds), y(accuracy)) for seconds, accuracy in points], theme)


def accuracy_lines(panels, theme, title, subtitle, source, shown):
    """`panels` has (name, {side: [(seconds, accuracy)]}), one below the other."""
    height, body = 260, list(legend(sides_of(panels), theme))
    for at, (name, lines) in enumerate(panels):
        body += accuracy_panel(name, lines, (0, TOP + 10 + at * (height + 60), WIDTH, height), theme, shown)
    words = f'{title}: ' + '; '.join(
        f'{name} ' + ', '.join(f'{side} {points[-1][1]:.3f} after {shown(points[-1][0])}'
                               for side, points in lines.items()) for name, lines in panels)
    return framed(theme, TOP + 10 + len(panels) * (height + 60) + 44, words, title, subtitle, source, panels, body)


def mixed(first, second, part):
    """A colour between two, `#rrggbb`: `part` of the second."""
    pairs = ((int(first[at:at + 2], 16), int(second[at:at + 2], 16)) for at in (1, 3, 5))
    return '#' + ''.join(f'{round(a + (b - a) * part):02x}' for a, b in pairs)


def heat_map(rows, columns, theme, title, subtitle, source):
    """`rows` has (label, a part of 1 for each column, or nothing): a cell whose colour and number are the part."""
    colours, axis, row = COLOURS[theme], 290, 34
    width, bottom = (WIDTH - axis) / len(columns), TOP + row * len(rows)
    empty, full = {'light': ('#f6f8fa', '#54aeff'), 'dark': ('#151b23', '#1158c7')}[theme]
    body = [text(axis + width * (at + 0.5), TOP - 10, column, colours['quiet'], 'middle')
            for at, column in enumerate(columns)]
    for at, (label, parts) in enumerate(rows):
        y = TOP + row * at
        body.append(text(0, y + 24, label, colours['text']))
        for place, part in enumerate(parts):
            if part is not None:
                body += [rect(axis + width * place + 1, y + 1, width - 2, row - 2, mixed(empty, full, min(part, 1))),
                         text(axis + width * (place + 0.5), y + 24, f'{part:.0%}', colours['text'], 'middle')]
    words = f'{title}: ' + '; '.join(
        f'{label} ' + ', '.join(f'{column} {part:.0%}' for column, part in zip(columns, parts) if part is not None)
        for label, parts in rows)
    return framed(theme, bottom + 44, words, title, subtitle, source, [columns, rows], body)
