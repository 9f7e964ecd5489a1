# SPDX-License-Identifier: Apache-2.0
"""Rules of tools/lint.py about text: pages, comments, docstrings and strings.

A page has sentences of 18 words in the mean, and none above 30. No sentence, comment or string opens with a noun clause
("What ...", "Whether ..."), and none has a phrase of tools/lint_phrases.txt. `lint_prose.py FILES` prints each page's
mean and its long sentences.
"""
import io
import pathlib
import re
import sys
import tokenize

HERE = pathlib.Path(__file__).resolve().parent
MOST_WORDS, MOST_IN_THE_MEAN = 30, 18
# Pages that a tool writes as a whole, from texts that are checked where they are written.
GENERATED_PAGES = ('docs/ops.md', 'docs/ops/', 'docs/dictionary.md')
# Tables that a tool writes: between markers, and that of tools/platforms/record.py by its first line.
GENERATED = re.compile(r'<!-- begin: written by .*?-->.*?<!-- end of .*?-->'
                       r'|^\| system \| compiler, [^\n]*(?:\n\|[^\n]*)*', re.DOTALL | re.MULTILINE)
# Files that are no text of the project: input of tests, data, and the list of phrases with its test.
NO_PROSE = ('subprojects/', 'tests/fuzz/seeds/', 'tests/lint/', 'tools/lint_prose.py', 'tools/lint_phrases.txt')
LICENCE = 'SPDX-License-Identifier'
# Pages that are still to be edited: the list only shrinks.
UNEDITED = ('docs/dtypes.md',)
OPENINGS = ('What', 'Whoever', 'That', 'Whether', 'Where', 'Of', 'Such')
OPENING = re.compile(rf'(?:{"|".join(OPENINGS)})\b(?!\()')
# One comma or none, and a question mark: a question may open with these words.
QUESTION = re.compile(r'[^.!?]*\?')
ABBREVIATION = re.compile(r'\b(?:e\.g|i\.e|etc|vs|al|Fig|No|approx)\.$')
SENTENCE_END = re.compile(r'[.!?]["\')`*]*(?=\s+["\'(*`\[]*[A-Z0-9`])')


def phrases():
    """(what is matched, what to write instead) of each line of the list."""
    for line in (HERE / 'lint_phrases.txt').read_text().splitlines():
        if line and not line.startswith('#'):
            found, _, better = line.partition(' -> ')
            yield re.compile(rf'(?<![\w-]){found}(?![\w-])', re.IGNORECASE), better


PHRASES = list(phrases())


def blanked(text, pattern):
    """The text with as many empty lines for what the pattern matches."""
    return pattern.sub(lambda found: '\n' * found[0].count('\n'), text)


def blocks_of(page):
    """(line, kind, text) of each heading, paragraph, list item and table cell of a page."""
    page = blanked(page, GENERATED)
    page = blanked(page, re.compile(r'^( *)```.*?^\1```$', re.DOTALL | re.MULTILINE))
    page = blanked(page, re.compile(r'<!--.*?-->|<picture>.*?</picture>', re.DOTALL))
    begin, kind, lines = 0, '', []

    def ended():
        nonlocal lines
        if lines:
            yield begin, kind, ' '.join(lines)
        lines = []

    for number, line in enumerate(page.splitlines(), 1):
        text = line.strip()
        item = re.match(r'(?:[-*] |\d+\. )', text)
        if not text or text.startswith(('#', '|')) or item:
            yield from ended()
        if text.startswith('#'):
            yield number, 'heading', text.lstrip('# ')
        elif text.startswith('|'):
            if not re.fullmatch(r'[|\s:-]+', text):
                cells = re.split(r'(?<!\\)\|', text)[1:-1]
                yield from ((number, 'cell', cell.strip()) for cell in cells if cell.strip())
        elif text:
            if not lines:
                begin, kind = number, 'item' if item else 'paragraph'
            lines.append(text[item.end():] if item else text)
    yield from ended()


def plain(text):
    """Text as it is read: code is one word, and a link is its name."""
    text = re.sub(r'(`+).+?\1', 'Code', text)
    text = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', text)
    return re.sub(r'&nbsp;|<[^<>]*>', ' ', text).replace('**', '')


def sentences_of(text):
    begin = 0
    for found in SENTENCE_END.finditer(text):
        if not ABBREVIATION.search(text[begin:found.end()]):
            yield text[begin:found.end()].strip()
            begin = found.end()
    if text[begin:].strip():
        yield text[begin:].strip()


def words_of(sentence):
    return sum(bool(re.search(r'\w', word)) for word in sentence.split())


def measured(page):
    """[(line, kind, sentence, words)] of a page."""
    return [(line, kind, sentence, words_of(sentence)) for line, kind, text in blocks_of(page)
            for sentence in sentences_of(plain(text))]


def mean_of(page):
    """Words of a sentence in the mean, without headings and cells of tables."""
    counts = [words for _, kind, _, words in measured(page) if kind in ('paragraph', 'item') and words > 1]
    return sum(counts) / len(counts) if counts else 0


def opens_badly(text):
    return OPENING.match(text) and not QUESTION.match(text)


def check_words(line, text):
    for pattern, better in PHRASES:
        if found := pattern.search(text):
            yield line, f'`{found[0]}`: write {better}'


def check_page(name, text):
    """Sentences of a page: their lengths, how they open, and their words."""
    if not name.endswith('.md') or name.startswith(GENERATED_PAGES) or name in UNEDITED:
        return
    for line, kind, sentence, words in measured(text):
        if words > MOST_WORDS:
            yield line, f'a sentence of {words} words, at most {MOST_WORDS}: "{sentence[:50]}..."'
        if kind != 'heading' and ' ' in sentence and opens_badly(sentence.lstrip('("*')):
            yield line, f'a sentence that opens with a noun clause: "{sentence[:50]}"'
        yield from check_words(line, sentence)
    if (mean := mean_of(text)) > MOST_IN_THE_MEAN:
        yield 1, f'{mean:.1f} words a sentence in the mean, at most {MOST_IN_THE_MEAN}'


def comments_of(name, text):
    """(line, text) of each comment, docstring and string: neighbouring lines of a comment are one."""
    if name.endswith('.py'):
        yield from python_texts(text)
        return
    sign = '#' if name.endswith(('meson.build', '.ini', '.toml')) else '//'
    begin, lines = 0, []
    for number, line in enumerate([*text.splitlines(), ''], 1):
        found = re.match(rf'\s*{sign}+[/<!]*\s?(.*)', line)
        if found and not found[1].startswith(LICENCE):
            begin = begin if lines else number
            lines.append(found[1])
            continue
        if lines:
            yield begin, ' '.join(lines)
        lines = []
        if sign == '//' and not found:
            bare = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
            if '//' in bare:
                yield number, bare.split('//', 1)[1].lstrip('/< ')


def python_texts(text):
    begin, lines, last = 0, [], -1
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and LICENCE not in token.string:
            if token.start[0] != last + 1:
                if lines:
                    yield begin, ' '.join(lines)
                begin, lines = token.start[0], []
            lines.append(token.string.lstrip('#! '))
            last = token.start[0]
        elif token.type == tokenize.STRING and token.string.startswith(('"""', "'''")):
            yield token.start[0], token.string.strip('"\'')
    if lines:
        yield begin, ' '.join(lines)


def check_comments(name, text):
    """How comments and docstrings open, and their words."""
    if not name.endswith(('.cc', '.h', '.inc', '.py', 'meson.build')):
        return
    for line, comment in comments_of(name, text):
        for sentence in sentences_of(plain(comment)):
            if opens_badly(sentence):
                yield line, f'a comment that opens with a noun clause: "{sentence[:50]}"'
        yield from check_words(line, plain(comment))


def check_strings(name, text):
    """How the texts open that programs show: of C++ those in strings, of the dictionary its notes."""
    if name.startswith('tools/dictionary/') and name.endswith('.txt'):
        found = re.finditer(r'^ {4,}(?!#)(\S.*)$', text, re.MULTILINE)
    elif name.endswith('.cc') and name.startswith(('modules/', 'grads/', 'kernels/', 'tools/', 'bench/')):
        found = re.finditer(r'(?<![\w\\])"((?:\\.|[^"\\\n])*)"', text)
    else:
        return
    for string in found:
        if name.endswith('.txt'):
            yield from check_words(text.count('\n', 0, string.start()) + 1, plain(string[1]))
        for sentence in sentences_of(plain(string[1])):
            if opens_badly(sentence) and ' ' in sentence:
                line = text.count('\n', 0, string.start()) + 1
                yield line, f'a string that opens with a noun clause: "{sentence[:50]}"'


def findings(name, text):
    """(line, what is wrong) of a file."""
    if not name.startswith(NO_PROSE):
        for check in check_page, check_comments, check_strings:
            yield from check(name, text)


def main():
    for name in sys.argv[1:]:
        page = pathlib.Path(name).read_text()
        long = sorted((found for found in measured(page) if found[3] > MOST_WORDS), key=lambda found: -found[3])
        print(f'{mean_of(page):5.1f} {len(long):3} above {MOST_WORDS}  {name}')
        for line, _, sentence, words in long:
            print(f'        {line}: {words} words: {sentence[:90]}')


if __name__ == '__main__':
    main()
