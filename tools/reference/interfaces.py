# SPDX-License-Identifier: Apache-2.0
"""Exports of the interface units, with signatures and docstrings, read from their sources.

The sources are formatted by clang-format and follow the project's conventions, which keeps this short: `///` lines
before a declaration are its docstring, a declaration that follows at once belongs to it when it has the same name
or none of its own.
"""
import dataclasses
import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNIT = re.compile(r'^export module ([\w.]+(?::\w+)?);', re.MULTILINE)
TYPE = re.compile(r'(?:class|struct|union|enum class|enum) (?:\[\[.*?\]\] )?(\w+)')
# Before the name of what is declared: what a template asks for, and words that are no part of a signature.
TEMPLATE = re.compile(r'\s*template <')
MACRO = re.compile(r'[A-Z_]+\(\w*\)\n')
# A macro with parameters that the unit defines, and a line that is a call of one.
DEFINED = re.compile(r'^#define (\w+)\(([\w, ]+)\)((?:[^\n]*\\\n)*[^\n]*)\n', re.MULTILINE)
USED = re.compile(r'^([A-Z_]+)\(([^()\n]+)\)\n', re.MULTILINE)
QUIET = re.compile(r'\b(?:inline|export|extern(?= const)|KG_\w+(?:\([^()]*\))?|\[\[\w+\]\]) ')


@dataclasses.dataclass
class Declaration:
    """One declaration at namespace scope."""
    name: str        # with its namespaces below kerngrad's: keep::in0
    kind: str        # function, type, concept, alias, variable
    signature: str   # as a reader wants to see it: without bodies, types with their public members
    doc: str         # its docstring as Markdown; that of the declaration before where it shares it
    unit: str        # kerngrad:core
    source: pathlib.Path
    title: str       # of the part of its unit: `// ---- title`
    members: dict = dataclasses.field(default_factory=dict)  # of a type: name -> [signatures, docstring]


def closing(text, begin):
    """The place after the bracket that closes the one at `begin`; texts, comments and characters are skipped."""
    depth, at = 0, begin
    while at < len(text):
        at_next = skipped(text, at)
        if at_next > at:
            at = at_next
            continue
        depth += (text[at] in '{([') - (text[at] in '})]')
        at += 1
        if depth == 0:
            return at
    raise ValueError('a bracket is not closed: ' + text[begin:begin + 60])


def skipped(text, at):
    """The place after the comment, text or character that begins at `at`; `at` where none does."""
    if text.startswith('//', at):
        return (text.find('\n', at) + len(text) + 1) % (len(text) + 1)
    if text[at] == '"' or text[at] == "'" and not text[at - 1].isalnum():
        end = at + 1
        while text[end] != text[at]:
            end += 2 if text[end] == '\\' else 1
        return end + 1
    return at


def without_template(head):
    """A declaration's text behind its templates and what they require."""
    while TEMPLATE.match(head):
        at, depth = head.index('<'), 0
        while True:
            depth += (head[at] == '<') - (head[at] == '>' and head[at - 1] != '-')
            at += 1
            if depth == 0:
                break
        head = head[at:].lstrip()
        required = re.match(r'requires\b', head)
        if required:
            head = after_requires(head[required.end():]).lstrip()
    return head


def after_requires(text):
    """Behind `A<B> && (C)`."""
    while True:
        text = text.lstrip(' !\n')
        if text[0] == '(':
            text = text[closing(text, 0):]
        else:
            at, depth = 0, 0
            while depth or text[at] not in ' \n':
                depth += (text[at] in '<(') - (text[at] in '>)')
                at += 1
            text = text[at:]
        more = re.match(r'\s*(?:&&|\|\|)', text)
        if not more:
            return text
        text = text[more.end():]


def end_of_declaration(text, begin):
    """Its end, and the begin of its body or None: `{` of a function, a class, an enum or a namespace."""
    at, body, angle = begin, None, 0
    while at < len(text):
        at_next = skipped(text, at)
        if at_next > at:
            at = at_next
        elif text[at] == ';':
            return at + 1, body
        elif text[at] in '([':
            at = closing(text, at)
        elif text[at] == '{':
            after, head = closing(text, at), without_template(QUIET.sub('', text[begin:at]))
            rest = text[after:].lstrip()
            is_type = re.match(r'(?:class|struct|union|enum)\b', head)
            if re.match(r'(?:inline )?namespace\b', head):
                return after, at
            if is_type or is_value(head):
                body = at if is_type else body
            elif not rest.startswith((',', '{')):
                return after, at
            at = after
        else:
            at += 1
    raise ValueError('a declaration does not end: ' + text[begin:begin + 80])


def is_value(head):
    """True if braces after this are a variable's value and not a function's body."""
    plain = re.sub(r'operator\s*(?:\(\)|[^\w\s(]+)', 'operator', re.sub(r'"[^"\n]*"', '""', head))
    depth = 0
    for at, letter in enumerate(plain):
        depth += (letter in '([') - (letter in ')]')
        if letter == '=' and depth == 0 and '=' not in plain[at + 1:at + 2] and plain[at - 1] not in '=<>!':
            return True
    return '(' not in without_arguments(plain) or plain.startswith('concept ')


def without_arguments(head):
    """A declaration without what its types have in angle brackets, where the brackets of `std::function<void()>` would
    look like those of a function."""
    before = ''
    while 'operator' not in head and head != before:
        before, head = head, re.sub(r'(?<=\w)<[^<>;{}=]*>', '', head)
    return head


def declarators(head):
    """The names that a declaration of variables brings: `tensor mean, variance;`, `std::function<void()> a{}, b{};`."""
    plain, before = without_arguments(head).partition(';')[0], ''
    while plain != before:
        before, plain = plain, re.sub(r'\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]', '', plain)
    found = [re.search(r'(\w+)\s*$', part.partition('=')[0]) for part in plain.split(',')]
    return [name[1] for name in found if name]


def name_of(head):
    """(name, kind) of a declaration without its templates; ('', '') where it brings no name of its own."""
    if re.match(r'(?:friend|static_assert|using namespace|typedef|extern(?= ")|asm)\b', head):
        return '', ''
    for pattern, kind in ((r'concept (\w+)', 'concept'), (r'using (\w+) =', 'alias'), (r'namespace (\w+) =', 'alias'),
                          (r'using [\w:]*?(\w+);', 'alias')):
        found = re.match(pattern, head)
        if found:
            return found.group(1), kind
    found = re.match(TYPE, head)
    if found:
        rest = head[found.end():].lstrip()
        return ('', '') if rest.startswith('<') else (found.group(1), 'promise' if rest.startswith(';') else 'type')
    head = without_arguments(head)
    found = re.search(r'(operator(?:\(\)|\[\]|"" ?\w+|[^\w\s(]+| [\w:]+)|\b\w+)\s*\(', head)
    if found and not re.search(r'[={]', re.sub(r'[=!<>]=', '', head[:found.start()])):
        # Explicit specialisations and members that are defined outside of their class are their declaration's.
        return ('', '') if head[:found.start()].endswith('::') else (found.group(1).strip(), 'function')
    found = re.match(r'[^={;]*?\b(\w+)(?:\[[^\]]*\])*\s*(?:=|\{|;)', head)
    return (found.group(1), 'variable') if found else ('', '')


def signature_of(text, body, kind, head):
    """The declaration without what is behind it: a function's body, a type's private members."""
    if kind == 'type':
        return public_text(text, body)
    if kind == 'function':
        text = text[:body] if body is not None else text
        text = without_initialisers(text).rstrip().rstrip(';') + ';'
    text = re.sub(r' = \[.*', ';', text, flags=re.DOTALL) if kind in ('variable', 'concept') else text
    return QUIET.sub('', re.sub(r'\s*\n\s*', ' ', text)).strip()


def without_initialisers(text):
    """A constructor's head before what it begins with: `: a_(1), b_(2)`."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in '(<[') - (letter in ')]' or letter == '>' and text[at - 1] != '-')
        if letter == ':' and depth <= 0 and text[at - 1] in ' \n' and text[at + 1:at + 2] == ' ':
            return text[:at]
    return text


def is_enumeration(head):
    return re.match(r'enum', without_template(QUIET.sub('', head)))


def public_pieces(text, body):
    """(text, names, whether it begins a line) of what a type shows: docstrings, which have no name, and members."""
    head, inside = text[:body], text[body + 1:closing(text, body) - 1]
    public = not re.match(r'class', without_template(QUIET.sub('', head)))
    for kind, piece, line_begin in pieces(inside):
        if kind == 'label':
            public = piece == 'public'
        elif public and kind == 'comment' and piece.startswith('///'):
            yield piece, [], line_begin
        elif public and kind == 'declaration':
            if re.match(r'friend|static_assert', without_template(piece)):
                continue
            _, begin = end_of_declaration(piece + ' ', 0)
            bare = without_template(QUIET.sub('', piece))
            name, what = name_of(bare)
            names = declarators(bare) if what == 'variable' else [name]
            yield signature_of(piece, begin, what, bare), names, line_begin


def members_of(text, body, own_name):
    """name -> [signatures, docstring] of a type's public members: its enumerators, or its constructors, by the name of
    the type, and all others but operators and the destructor."""
    members, comments, last, doc = {}, [], [], ''
    if body is None or is_enumeration(text[:body]):
        return members if body is None else enumerators(text[body + 1:closing(text, body) - 1], own_name)
    for piece, names, line_begin in public_pieces(text, body):
        if piece.startswith('///<') and not line_begin:
            for name in last:
                if name in members and not members[name][1]:
                    members[name][1] = piece[4:].strip()
        elif piece.startswith('///'):
            comments.append(piece.lstrip('/<').strip())
        else:
            doc = ' '.join(comments).strip() or (doc if names == last else '')
            last, comments = names, []
            for name in names:
                if name and not re.search(rf'\boperator|~{own_name}\(|= (?:delete|KG_DELETED)', piece):
                    entry = members.setdefault(name, [[], ''])
                    entry[0].append(piece)
                    entry[1] = entry[1] or doc
    return members


def enumerators(inside, own_name):
    """name -> [signatures, docstring] of what is between the braces of an enumeration."""
    members, comments = {}, []
    for line in inside.split('\n'):
        code, _, said = line.partition('//')
        names = re.findall(r'(\w+)(?:\s*=[^,]*)?\s*(?:,|$)', code)
        if not names and said.startswith('/'):
            comments.append(said.lstrip('/ '))
        for name in names:
            members[name] = [[f'{own_name}::{name}'], ' '.join(comments)]
        if names:
            comments = []
            if said.startswith('/<'):
                members[names[-1]][1] = said[2:].strip()
    return members


def dtypes(header):
    """The enumerators of `dtype`, which kernels/common/abi.h makes of the lines of KG_DTYPES."""
    lines = re.search(r'#define KG_DTYPES\(X\)((?:.*\\\n)+.*)', header)[1]
    return {name: [[f'dtype::{name}'], f'elements of type {element.replace("::kerngrad::", "kg::")}']
            for name, element in re.findall(r'X\((\w+), ([\w:]+), ', lines)}


def public_text(text, body):
    """A type as a header would show it: what is public, without bodies."""
    if body is None:
        return text
    head = text[:body]
    if is_enumeration(head):
        return QUIET.sub('', head) + text[body:].rstrip()
    lines = []
    for piece, _, at_line_begin in public_pieces(text, body):
        shown = '  ' + piece.replace('\n', '\n  ')
        if at_line_begin or not lines:
            lines.append(shown)
        else:
            lines[-1] += shown
    inner = '\n'.join(lines)
    return QUIET.sub('', re.sub(r'\s*\n\s*', ' ', head)).strip() + (' {\n' + inner + '\n};' if lines else ' {};')


def pieces(text):
    """(kind, text, whether it begins a line) of what is at the top of a text: comments, labels, declarations,
    lines of the preprocessor, and `gap` for an empty line."""
    at = 0
    while True:
        space = re.compile(r'\s*').match(text, at)
        at = space.end()
        if space.group(0).count('\n') > 1:
            yield 'gap', '', True
        if at >= len(text):
            return
        begins_line = '\n' in space.group(0) or space.start() == 0
        label = re.compile(r'(public|private|protected):').match(text, at)
        if text.startswith('//', at):
            end = (text.find('\n', at) + len(text) + 1) % (len(text) + 1)
            yield 'comment', text[at:end].rstrip(), begins_line
        elif text[at] == '#':
            end = re.compile(r'(?:[^\n]*\\\n)*[^\n]*').match(text, at).end()
            yield 'preprocessor', text[at:end], True
        elif label:
            end = label.end()
            yield 'label', label.group(1), True
        elif MACRO.match(text, at):
            end = MACRO.match(text, at).end()
            yield 'preprocessor', text[at:end], True
        else:
            end, _ = end_of_declaration(text, at)
            yield 'declaration', text[at:end], begins_line
        at = end


def docstring(lines):
    """A docstring as Markdown: sentences go on from line to line, and lines with three spaces in front are code."""
    parts, code = [], []
    for line in [*lines, '']:
        if line.startswith('   '):
            code.append(line)
            continue
        if code:
            parts.append('\n'.join(['\n\n```cpp', textwrap.dedent('\n'.join(code)), '```\n\n']))
            code = []
        parts.append(line.strip() + ' ')
    return re.sub(r' *\n\n *', '\n\n', ''.join(parts)).strip()


def declarations_in(text, inherited, exported, namespaces, title=''):
    """Those that are exported; `inherited` has what all of them share."""
    comments, last, found = [], ('', ''), []
    for kind, piece, begins_line in pieces(text):
        section = re.match(r'// -{10,} (.*)', piece)
        if section:
            title, last, comments = section.group(1), ('', ''), []
        elif piece.startswith('///<') and found and not begins_line:
            found[-1].doc = last[1] or piece[4:].strip()
        elif piece.startswith('///'):
            comments.append(piece[3:])
        elif kind == 'gap':
            comments, last = [], last if last[0].startswith('operator') else ('', '')
        if kind != 'declaration':
            continue
        bare = without_template(re.sub(r'^export ', '', QUIET.sub('', piece)))
        space = re.match(r'namespace ([\w:]*)\s*\{', bare)
        shown = exported or piece.startswith('export ')
        if space:
            inner = piece[piece.index('{') + 1:-1]
            names = [*namespaces, *(space.group(1).split('::') if space.group(1) else [])]
            if names[:1] == ['kerngrad'] and names[1:2] != ['detail']:
                found += declarations_in(inner, inherited, shown, names, title)
            last, comments = ('', ''), []
            continue
        name, what = name_of(bare)
        same = name == last[0] or name.startswith('operator') and last[0].startswith('operator')
        doc = docstring(comments) or (last[1] if same else '')
        last, comments = (name, doc), []
        if not shown or not name or namespaces[:1] != ['kerngrad'] or what == 'promise' and not doc:
            continue
        _, body = end_of_declaration(piece + ' ', 0)
        signature = signature_of(piece, body, what, bare)
        # Further names of one declaration: further variables, the enumerators of an enumeration without a scope.
        more = re.findall(r', (\w+)(?:\{| = )', bare) if what == 'variable' else []
        if what == 'type' and re.match(r'enum (?!class\b)', bare):
            more = re.findall(r'\b(\w+) =', bare[bare.index('{'):])
        for each in [name, *more]:
            whole = '::'.join([*namespaces[1:], each])
            members = members_of(piece, body, name) if what == 'type' and each == name else {}
            found.append(Declaration(whole, what, signature, doc, title=title, members=members, **inherited))
    return found


def expanded(text):
    """The text with what the unit's own macros stand for, an empty line behind each."""
    macros = {name: (params.split(', '), body.replace('\\\n', '\n')) for name, params, body in DEFINED.findall(text)}

    def meant(found):
        if found.group(1) not in macros:
            return found.group(0)
        params, body = macros[found.group(1)]
        given = dict(zip(params, found.group(2).split(', ')))
        lines = [line.rstrip() for line in body.split('\n') if line.strip()]
        return re.sub(r'\b\w+\b', lambda word: given.get(word.group(0), word.group(0)), '\n'.join(lines)) + '\n\n'

    return USED.sub(meant, text)


def declarations(source):
    """Exports of the unit in a file; empty where the file is none or exports nothing."""
    return declarations_of(source.read_text(), source.relative_to(ROOT))


def declarations_of(text, source):
    unit = UNIT.search(text)
    shared = {'unit': unit.group(1), 'source': source} if unit else {}
    return declarations_in(expanded(text[unit.end():]), shared, False, []) if unit else []
