"""Writes jinja_cases.json: the results of templates and expressions in Python's Jinja.

Run with the python of a virtual environment that holds Salt 3008.3 (Jinja2 3.1.6, Python 3.11):
    <venv>/bin/python tests/corpus/make_jinja_cases.py > tests/corpus/jinja_cases.json
"""

import json
import random
import re
import sys
import warnings

import jinja2
import jinja2.sandbox

warnings.simplefilter("ignore")

VARIABLES = {
    "i": 7, "n": -3, "z": 0, "big": 2**70, "f": 2.5, "g": -0.5, "w": 3.0,
    "s": "Hello, World", "t": "a b  c", "e": "", "u": "\u00e9\U0001f600x", "d": "10",
    "l": [3, 1, 2], "m": ["b", "A", "c"], "x": [], "p": [[1, "a"], [2, "b"]],
    "a": {"k": 1, "name": "web", "items": 5, "sub": {"q": [1, 2]}}, "b": {}, "r": [{"n": 2, "v": "x"}, {"n": 1, "v": "y"}, {"n": 2, "v": "z"}],
    "yes": True, "no": False, "nil": None,
}

OPTIONS = {}


def environment(files=None, undefined=jinja2.StrictUndefined, **options):
    loader = jinja2.DictLoader(files or {})
    env = jinja2.sandbox.SandboxedEnvironment(
        undefined=undefined, loader=loader, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"], **options
    )
    return env


def answer(source, files=None, **options):
    """The text, or the class and the text of the error and the line that the traceback names."""
    if options.pop("lenient", False):
        options["undefined"] = jinja2.Undefined
    try:
        return {"text": environment(files, **options).from_string(source).render(**VARIABLES)}
    except jinja2.TemplateSyntaxError as exc:
        return {"error": [type(exc).__name__, exc.message], "line": exc.lineno}
    except RecursionError:
        return {"error": ["RecursionError", "maximum recursion depth exceeded"]}
    except Exception as exc:  # whatever a template raises is what is recorded
        line, tb = None, exc.__traceback__
        while tb is not None:
            if tb.tb_frame.f_code.co_filename == "<template>":
                line = tb.tb_lineno
            tb = tb.tb_next
        return {"error": [type(exc).__name__, re.sub(r" \(<template>, line \d+\)$", "", str(exc))], **({"line": line} if line is not None else {})}


# Hand-written expressions: operators, literals, methods, filters, tests, errors.
EXPRESSIONS = r"""
1 / 0 | 1.0 / 0 | 1 // 0 | 1 % 0 | 1.0 // 0 | 1.0 % 0 | 0 ** -1 | 2.0 ** 5000 | 'a' + 1 | 1 + 'a' | [1] + 1 | [1] + (1,) | 'a' * 'b' | 'a' * 1.5
1 - 'a' | -'a' | +[] | none + 1 | 'a' % 1 | '%d' % 'x' | '%s %s' % 'a' | '%s' % (1, 2) | '%(a)s' % 1 | '%(a)s' % {} | '%q' % 1 | '%' % 1 | '%c' % 1.5
1 < 'a' | none < 1 | [] < {} | 1 in 1 | 1 in 'a' | none in 'a' | [] in {} | 1|length | 'a'[1] | [1][5] | [1]['a'] | 'a'['b'] | {}['a'] | 1['a'] | 'abc'[::0] | {}[[]]
'a'.foo | 'abc'.index('x') | [1].index(3) | [].pop() | [1].pop(4) | {}.pop('a') | {}.popitem() | 'a'.join([1]) | 'a'.join(1) | 'a'.split('') | 'a'.startswith(1)
{}.update(1) | {}.update([1]) | {}.update(['abc']) | [3, 'a']|sort | [none, 1]|sort | ['a']|sum | 'a'|round | 2.5|round | 2.675|round(2) | -1.5|round | 5|round | 1234|round(-2) | 'a'|abs
'{}'.format() | '{a}'.format() | '{0}{}'.format(1) | '{:d}'.format('a') | '{:>5}'.format([]) | '{0.a}'.format(1) | '{0[a]}'.format({'a': 5}) | '{!r:>5}'.format('a') | '{:,}'.format(1234567)
'{:.2%}'.format(0.256) | '{:e}'.format(12345.678) | '{:g}'.format(0.00001) | '{:#x}'.format(255) | '{:+}'.format(3) | '{:08.3f}'.format(-3.14159) | '{:^10}|'.format('é') | '{:_}'.format(10000)
'{'.format() | '}'.format() | '{{}}'.format() | '{:>{w}}'.format('a', w=5) | '{:.3}'.format(3.14159) | '{:5}|'.format(1.0) | '{:x}'.format(1.5) | '{:s}'.format(1) | '{:*<5}'.format('a') | '{:,.2f}'.format(1234.5)
'{0.__class__}'.format(1) | '{0[__class__]}'.format(1) | '{.n}'.format(r[0]) | '{a.k}-{a[name]}'.format(a=a) | '{:06,}'.format(1234) | '{:=+8,}'.format(-1234) | '{:10.3e}'.format(0) | '{:.0f}'.format(2.5) | '{:.0f}'.format(1e23)
'%5.2f|%-5s|%+d|%05d|%x|%X|%o|%e|%g|%r|%%|%c|%i|%#x' % (3.14159, 'a', 5, 42, 255, 255, 8, 12345.678, 0.00001, 'q', 'z', 7, 255) | '%*d' % (5, 42) | '%.3s' % 'abcdef' | '%s' % [1, 2] | '%s' % {'a': 1}
'%s' % () | 'abc' % () | 'abc' % {} | 'abc' % 'x' | '%a' % 'é' | '%.0f' % 0.5 | '%d' % 3.99 | '%d' % none | '%i' % true | '%5s' % none | '%g' % 1e100 | '%g' % 123456789 | '%.3g' % 0.00012345 | '%G' % 1e-10
2 ** -1 | true + true | -true | not 0 | 1 and 2 | 0 or 'x' | 1e16 | 1e15 | 1.0 | 123456789012345678901234567890 | 5 // -2 | -5 % 3 | 5.5 // 2 | -5.5 % 3 | 10 ** 20 / 3 | 2 ** 0.5 | 1_000 | 0x1f | 0b101 | 0o17 | 1.5e3 | 1e-3
'é'.upper() | 'ß'.upper() | 'hello world'.title() | "they're".title() | 'aBc'.swapcase() | 'A'.casefold() | 'a\tb'.expandtabs(4) | 'abc'.find('c', -1) | 'aXbXc'.rsplit('X', 1) | 'a  b '.split(none, 1) | ' a b '.rsplit(none, 1)
'a\nb\r\nc'.splitlines(true) | 'abc'.partition('b') | 'abc'.rpartition('z') | '42'.zfill(5) | '-42'.zfill(5) | 'x'.isidentifier() | '½'.isnumeric() | '²'.isdigit() | '²'.isdecimal() | ''.isalpha() | 'aB'.islower() | 'Hello World'.istitle()
'abc'.translate({97: 'x', 98: none}) | 'abc'.count('') | 'abc'.replace('', '-') | 'abc'.replace('b', 'x', 0) | 'aaa'.replace('a', 'b', 2) | 'abc'.encode() | 'abc'.encode().decode() | 'abc'.ljust(5, 'xx') | ''.join({'a': 1, 'b': 2}) | 'abcabc'.strip('ac')
'abc'.center(8, '*') | 'abc'.center(7, '*') | 'ab'.center(7, '*') | 'abc'.rjust(5) | 'abc'.removeprefix('a') | 'abc'.removesuffix('c') | 'a,b,c'.split(',', 1) | 'a,b,c'.rsplit(',') | 'aXbX'.rfind('X') | 'abc'.startswith(('x', 'a')) | 'abc'.endswith('c', 0, 2)
{1: 'a'}.get(true) | {1: 'a', true: 'b'} | {(1, 2): 3}[(1, 2)] | {1.0: 'x'}[1] | [1, 2] == (1, 2) | range(3) | range(5, 0, -2)|list | range(1.5) | range(10)[2] | range(10)[2:5] | {'a': 1}.items() | {'a': 1}.keys() | {'a': 1}.values()
{'a': 1}.items()|list | 'a' in {'a': 1}.keys() | ('a', 1) in {'a': 1}.items() | {'a': 1} == {'a': 1.0} | [1, [2]] == [1, [2]] | 1 < 2 < 3 | 1 < 3 < 2 | 3 > 2 >= 2 != 1 | [1, 2] < [1, 3] | 'a' < 'B' | (1, 2) < (1, 3) | 1 == 1.0 | '1' == 1 | none == 0
'abc'[-2:] | 'abc'[5:] | 'abc'[:10] | [1, 2, 3][::-1] | [1, 2, 3][1:] | (1, 2, 3)[::2] | [1, 2, 3][-5:2] | 'abc'[::-1] | u[1] | u|length | u[::-1] | l[1:2] | a['k'] | a.k | a.items | a['items'] | a.sub.q[0] | a.sub.q.0
'abc'.__class__ | ''['__class__'] | a.__init__ | l.__len__ | nope | nope.x | nope['x'] | a.nope | a['nope'] | a.nope.x | l[9] | l['k'] | none.x | i.x | (1).real | nope() | 'x'() | a.k() | a.get('z').q | nope|default('D') | nope.x|default('D') | a.nope|default('D')
'' or nope | nope is defined | a.nope is defined | a.k is defined | nope == 1 | [nope] | {'a': nope} | nope ~ 'x' | 'x' ~ 1 ~ none ~ 1.0 | nope in [1] | 1 in nope | not nope | nope and 1 | nope|string | nope|length | nope|list | nope + 1 | nope.__html__ | [1, nope]|join
'x' if yes | 'x' if no | 'x' if no else 'y' | ('x' if no) is defined | 1 if no else 2 if no else 3 | [1 if yes else 2] | 'a' 'b' | 'a\x41\u00e9\n\'' | "a\"b" | '\q' | 'a\\nb' | true | True | none | None | [] | () | (1,) | (1, 2) | {} | [1,] | {'a': 1,}
'hello world foo'|title | 'HELLO'|capitalize | 'x'|center(5) | 'a-b (c) [d] {e} <f>'|title | 'foo bar baz qux'|truncate(9) | 'foo bar baz qux'|truncate(9, true) | 'foo bar'|truncate(5, false, '', 0) | 'abc'|truncate(2) | 'a b c d e f g h'|wordwrap(5)
'longwordthatdoesnotfit x'|wordwrap(6) | 'longwordthatdoesnotfit x'|wordwrap(6, false) | 'well-known-words here'|wordwrap(8) | 'a\n\nb'|wordwrap(3) | 'a b c'|wordcount | '  x '|trim | 'xxaxx'|trim('x') | 'a\nb\n\nc'|indent | 'a\nb\n\nc'|indent(2, true, true) | 'a\nb'|indent('>>')
'12'|int | '12.7'|int | 'x'|int | 'x'|int(5) | '0x1f'|int(0, 16) | '0b11'|int(0, 0) | none|int | []|int(3) | '1e3'|int | ' 42 '|int | '1_000'|int | 3.9|int | -3.9|int | true|int | '3.5'|float | 'x'|float | 'x'|float(1.5) | 'inf'|float | none|float
[1, 2, 3, 4, 5]|batch(2)|list | [1, 2, 3]|batch(2, 'x')|list | [1, 2, 3, 4, 5]|slice(2)|list | [1, 2, 3]|slice(2, 'x')|list | [1, 2]|first | []|first | [1, 2]|last | 'abc'|first | 'abc'|last | []|last | {'a': 1}|first | [3, 1, 2]|sort | [3, 1, 2]|sort(true)
['b', 'A', 'c']|sort | ['b', 'A', 'c']|sort(case_sensitive=true) | r|sort(attribute='n')|map(attribute='v')|list | r|sort(attribute='n,v')|map(attribute='v')|join | r|groupby('n') | r|groupby('n')|map(attribute='grouper')|list | r|groupby('n')|map('last')|list
r|map(attribute='v')|join(',') | r|map(attribute='zz', default='-')|list | m|map('upper')|list | m|map('replace', 'b', 'x')|list | [1, 2, 3]|select('odd')|list | [1, 2, 3]|reject('odd')|list | [0, 1, '']|select|list | [0, 1, '']|reject|list
r|selectattr('n', 'eq', 2)|map(attribute='v')|list | r|rejectattr('n', '>', 1)|list | r|selectattr('n')|list|length | [1, 2]|map|list | [1]|map('nofilter')|list | [1]|select('notest')|list | [1]|map(attribute='x', y=1)|list | []|selectattr|list
[1, 2, 3]|sum | r|sum(attribute='n') | [[1], [2]]|sum(start=[]) | [1, 5, 3]|min | [1, 5, 3]|max | []|max | ['b', 'A']|min | r|max(attribute='n') | [1, 2, 1]|unique|list | ['a', 'A']|unique|list | ['a', 'A']|unique(true)|list | r|unique(attribute='n')|list|length
[1, 2]|reverse|list | 'abc'|reverse | {'b': 1, 'a': 2}|dictsort | {'b': 1, 'a': 2}|dictsort(by='value') | {'b': 1, 'A': 2}|dictsort(true) | {'b': 1}|dictsort(by='x') | {'a': 1}|items|list | nope|items|list | [1]|items|list | [1, 2]|join | [1, none, 'x']|join('-') | r|join(',', 'v')
'<a href="x">&</a>'|e | '<a>'|escape|e | '<a>'|forceescape | '<b>x</b> <!-- c --> y'|striptags | '<'|safe | '<'|e ~ '>' | ('<'|e) + '>' | '>' + ('<'|e) | '%s<'|e|format('>') | ('<i>'|safe).upper() | 'a b&c/d?é'|urlencode | {'a b': 1, 'c': '/'}|urlencode | {'a': 1, 'b': none, 'c': '<'}|xmlattr
'see http://example.com/x?y=1, www.foo.org or me@x.org.'|urlize | 'http://example.com/abcdefgh'|urlize(10) | 'http://x.org'|urlize(nofollow=true, target='_blank') | {'b': [1, none, true], 'a': "<'&>"}|tojson | [1.0, 'é']|tojson | {'a': [1]}|tojson(2) | {'b': 1, 'a': [1, 2]}|pprint
1|filesizeformat | 1000|filesizeformat | 1234567|filesizeformat | 1048576|filesizeformat(true) | 0|filesizeformat | 'x'|filesizeformat | 1e30|filesizeformat | 2.1|round(method='ceil') | 2.9|round(method='floor') | 2.123|round(2, 'ceil') | 1|round(method='x') | -3|abs | -2.5|abs
'a'|attr('upper') is callable | a|attr('k') is defined | a|attr('keys') is defined | '%s-%s'|format(1, 2) | '%(a)s'|format(a=1) | '%s'|format(1, a=2) | 'abc'|replace('b', 'x') | 123|replace(2, 9) | 'aaa'|replace('a', 'b', 2) | 42|string + 'x' | 'abc'|list | 'ab'|upper | 'AB'|lower | l|length | b|count
1 is odd | 2 is even | 9 is divisibleby 3 | 9 is divisibleby(2) | 1 is integer | 1.0 is integer | true is integer | 1.0 is float | 1 is number | true is number | '1' is number | 'a' is string | {} is mapping | [] is mapping | [] is sequence | 'a' is sequence | {} is sequence | 1 is sequence
[] is iterable | 1 is iterable | {} is iterable | none is none | nil is none | 1 is none | true is true | 1 is true | false is false | true is boolean | 1 is boolean | 'a' is lower | 'A' is upper | 'Ab' is lower | range is callable | 1 is callable | 1 is sameas 1 | none is sameas none | 1 is sameas true
1 is in [1, 2] | 3 is not in [1] | 'upper' is filter | 'nofilter' is filter | 'odd' is test | 1 is eq 1 | 1 is ne 1 | 1 is lt 2 | 1 is gt(2) | 1 is ge 1 | 1 is lessthan 2 | 'a' is equalto 'a' | '<'|e is escaped | 'x' is escaped | 1 is notest | 1|nofilter | 1 is odd is even | 2 is not odd
range(100001) | range(100000)|length | dict(a=1, b=2) | dict([('a', 1)], c=3) | dict({'x': 1}) | namespace(a=1).a | namespace(a=1).b | cycler('a', 'b').next() | joiner(',')() | 'x' * 3 | [1] * 2 | 2 * 'ab' | (1,) * 2 | [1, 2] + [3] | 'a' + 'b' | (1,) + (2,)
big | big + 1 | big * big | big // 3 | big % 7 | big / 3 | -big | big > 1.5 | big == big + 0 | big * 1.0 | 2 ** 100 | 7 / 2 | 6 / 2 | 7 // 2.0 | 7 % 2.5 | -7 // 2 | -7 / 2 | 1 / 3 | 0.1 + 0.2 | 1e308 * 10 | -0.0 | 0.0 * -1 | 100 * 1.1 | 3.0 | 1e22 | 1e21 + 1 | 123456.789e3
l.append(4) or l | l.extend([1]) or l | l.insert(1, 9) or l | l.pop() | l.pop(0) | l.remove(3) or l | l.remove(9) | l.sort() or l | l.reverse() or l | l.clear() or l | l.copy() | l.count(3) | l.index(1) | a.setdefault('z', 1) | a.update({'q': 2}) or a.q | a.update(q=3) or a.q | a.update([['w', 5]]) or a.w
a.pop('k') | a.pop('zz', 'D') | a.copy().k | a.get('k') | a.get('zz', 'D') | a.keys()|list | a.values()|list|length | a|length | b|length | 'k' in a | 'zz' in a | 'zz' not in a | a.clear() or a | {}.fromkeys(['a'], 1) | {'a': 1}.popitem() | p|map('last')|list | p[0][1] | dict(p)
'a'.upper(1) | 'a'.replace('b') | 'x'|default(1, 2, 3, 4) | 'x'|indent(zz=1) | 'a'|center('x') | [1]|batch | 'x'|replace('a') | {}.get() | dict(1) | namespace(1) | 'abc'|batch(2)|list | 5|list | none|list | 5|join | none|length | 5|sort | 5|first | {'a': 1}|last | [1, 2, 3]|random is number
*[1] | 1 + | (1 | [1 | {1 | {1: | 'abc | 1 2 | a b | a..b | a. | a[ | a[] | f( | f(a=1, 2) | f(*a, *b) | f(**a, b=1) | f(**a, **b) | 1 if | not | 1 is | 1| | @ | a$b | 1 ? 2 | x = 1 | "\xzz" | '\u12' | 5.upper() | a.1x | {a b} | [1 2] | (1 2) | and | a | or
dict(a=1)['a'] | dict(**{'a': 1}) | dict(**[1]) | dict(a=1, **{'a': 2}) | dict(**{1: 2}) | cycler('a', 'b') | cycler('a').reset() | cycler('a').current | cycler('a').nope | cycler() | joiner(', ').sep | joiner().used | joiner().nope | cycler('a') and 1
joiner() and 1 | joiner is callable | namespace() and 1 | joiner()|list | cycler('a')|list | lipsum(n=0) | lipsum(n=1, html=false)|length > 10 | lipsum(n=2)|string is escaped | lipsum is callable | range|string is string | cycler('a')['x'] | cycler('a', 'b')()
'nan'|float|int | 'inf'|float|round | 'nan'|float|round | 1|round(-500) | 1e300|round(-400) | 1.5|round(400) | 'inf'|float|round(2) | [1]|round | '1'|round(method='ceil') | 12345|round(-2, 'floor') | none|round | 12345|round(-6) | 55|round(-1)
[1, 2]|slice(0)|list | []|random | nope|random | 'abc'|random in 'abc' | 5|random | 'ab'|sum | [1]|sum(start='a') | [[1]]|sum(start=[2]) | nope|last | nope|items|list | 5|dictsort | nope|dictsort | [1]|map(attribute=none)|list | [1]|selectattr()|list | []|selectattr()|list | [1]|selectattr('x')|list
5|xmlattr | nope|xmlattr | {'a b': 1}|xmlattr | {'a': nope}|xmlattr | {'a': 1}|xmlattr(false) | {'a>': 1}|xmlattr | nope|tojson | {(1, 2): 1}|tojson | {none: 1, true: 2, 1.5: 3}|tojson | [range(2)]|tojson | ('a'|e)|tojson | 'a'.encode()|tojson | nope|pprint | (1, 2)|tojson
'tel:1'|urlize(extra_schemes=['tel:']) | 'x'|urlize(extra_schemes=['a b']) | 'mailto:a@b.org'|urlize | 'abcdef'|truncate(2) | 'abcdef'|truncate(5, leeway=-1) | [1, 2, 3]|truncate(3) | [1, 2, 3, 4, 5, 6, 7, 8, 9]|truncate(3, leeway=0) | 5|truncate | 'a b'|wordwrap(0) | 'a b'|wordwrap(-1)
nope|upper | nope|title | none|upper | 5|upper | nope|trim | 5.5|upper | nope|indent | nope|wordcount | 5|wordcount | nope is sequence | nope is iterable | nope is mapping | nope is callable | range(3) is sequence | ('a'|e) is sequence | ('a'|e) is string | {nope: 1} | nope in {'a': 1} | {'a': 1}[nope]
(0.0) ** -1 | 0 ** -2 | 1.5 // 0 | 'inf'|float // 2 | 5 // ('inf'|float) | 5.5 % ('inf'|float) | -1 ** 100 | (-1) ** 1001 | 0 ** 0 | 0 ** 5 | big * 1.5 | (10 ** 400) * 1.5 | (10 ** 400) / 3 | 2.5 ** 2 | (-2) ** 3 | 2 ** 0.5 ** 2
1.real | 1.5.real | (5).real | (5).imag | (5).numerator | (5).denominator | f.real | f.imag | w.is_integer() | f.is_integer() | i.bit_length() | big.bit_length() | true.real | i.conjugate() | (3).to_bytes | f.fromhex is callable
(1, 2).count(1) | (1, 2).index(2) | (1, 2).index(9) | (1, 2).append | (1, [2]) == (1, [2]) | (1, 2) != (1, 3) | (1,) < (1, 2) | (1, 2) + [3] | (1, 'a') < (1, 2) | 'abc'.encode() < 'abd'.encode() | 'abc'.encode() < 'a' | 'ab'.encode() * 2 | 'ab'.encode() + 'c'.encode() | 'ab'.encode()[0]
'ab'.encode()|list | 'ab'.encode()|length | 97 in 'ab'.encode() | 'a'.encode() in 'ab'.encode() | 'ab'.encode() == 'ab'.encode() | 'ab'.encode()|string | 'ab'.encode()[0:1] | 'é'.encode('latin-1') | 'é'.encode('ascii') | 'é'.encode('utf-8').decode('ascii') | 'é'.encode('ascii', 'ignore')
{1: 'a'}[1.0] | {1: 'a'}[true] | {true: 'a'}[1] | {0: 'a'}[false] | {1.5: 'a'}[1.5] | {'a': 1}[[1]] | {'a': 1}[{}] | {1: 'a', 2: 'b'} == {1.0: 'a', 2: 'b'} | {'a': 1} == {'a': 1, 'b': 2} | {'a': [1]} == {'a': [1.0]} | [1, {'a': 2}] == [1, {'a': 3}] | {true: 1} == {1: 1} | {(1, 2): 'x'}[[1, 2]]
{'a': 1, 'b': 2}.keys() == {'b': 2, 'a': 1}.keys() | {'a': 1}.items() == {'a': 1}.items() | {'a': 1}.keys()|length | {'a': 1}.values()|list | {'a': 1}.keys()[0] | range(3) == range(3) | range(3) == range(4) | range(0) == range(5, 5) | 2 in range(3) | 'a' in range(3) | 2.0 in range(3) | range(3).start | range(3).nope | range(2, 9, 3)[1:] | range(3)[9] | range(5)|length
'{:5}|{:<5}|{:>5}|{:^5}'.format('a', 'b', 'c', 'd') | '{:=5}'.format('a') | '{:+}'.format('a') | '{:#}'.format('a') | '{:,}'.format('a') | '{:d}'.format(1.5) | '{:.2d}'.format(5) | '{:c}'.format(65) | '{:c}'.format(-1) | '{:c}'.format(1114112) | '{:5c}|'.format(65) | '{:zz}'.format(1) | '{:b}'.format(5) | '{:o}'.format(8) | '{:X}'.format(255) | '{:#b}'.format(5) | '{:n}'.format(5) | '{: d}'.format(5) | '{:%}'.format(1)
'{:#.3g}'.format(1.5) | '{:#g}'.format(100000.0) | '{:g}'.format(1e20) | '{:.0e}'.format(123.0) | '{:G}'.format(1e-10) | '{:E}'.format(1.5) | '{:F}'.format(1.5) | '{:010}'.format(-5) | '{:<010}'.format(5) | '{:.10g}'.format(0.1) | '{:,}'.format(1234.5) | '{:_x}'.format(65535) | '{:>+8.2f}'.format(2.5) | '%#g' % 1.0 | '%#.3o' % 8 | '%c' % 'ab' | '%c' % 1114112
('<a>'|e).upper() | ('<a>'|e).replace('<', '>') | ('a,b'|safe).split(',') | ('<'|safe).join(['<', 'a']) | ('{}'|safe).format('<') | ('{0!r}'|safe).format('<') | ('%s'|safe) % '<' | ('%s %s'|safe) % ('<', 1) | ('a'|safe) * 2 | 2 * ('a'|safe) | ('abc'|safe)[1] | ('abc'|safe)[1:] | ('abc'|safe)|length | ('abc'|safe)|list | ('a'|safe) == 'a' | 'a' == ('a'|safe)
('a'|safe) == 'b' | ('a'|safe) != 'a' | ('a'|safe) < 'b' | ('a'|safe) in ['a'] | 'a' in ('abc'|safe) | ('a'|safe).unescape() | ('&lt;b&gt;'|safe).unescape() | ('<b>x</b>'|safe).striptags() | ('a'|safe).partition('a') | (' a '|safe).strip() | ('a\nb'|safe).splitlines() | ('a'|safe).center(5, '<') | ('ab'|safe).title() | ('a'|safe)|string | ('a'|safe) + 1 | {('a'|safe): 1}['a']
('a'|safe).nope | ('a'|safe)|upper | ('a'|safe)|e | ('<'|safe)|forceescape | ('a'|safe).encode() | ('a-b'|safe).rsplit('-') | ('<i>'|safe).casefold() | ('a'|safe).zfill(3) | ('x'|safe) is string | ('x'|safe) is iterable | ('x'|safe).isalpha() | ('a'|safe).startswith('a') | ('a'|safe).format_map({})
'a,b'.split(sep=',') | ''.join() | ''.join([], []) | 'a'.center() | {}.get(1, 2, 3) | {}.setdefault() | [].append() | [].append(1, 2) | [1].pop('a') | [1].insert('a', 1) | [3, 1].sort(reverse=true) | [].index() | 'a'.replace('a', 'b', 'c') | 'abc'.index('c', 5)
'\101' | '\0' | '\x4' | '\u12' | '\U00110000' | '\U0001F600' | 'é\d' | '\é' | '\N' | '\N{nope}' | '\a\b\f\v' | '\d\e' | "\x41\u00e9" | '\777'
(-8) ** 3 | '😀bx'.find('x') | 'a😀b'.count('b', 1) | '😀bx'.startswith('x', 2) | 'b😀b'.rfind('b', 1) | a.setdefault('k', 5) | '{:.0e}'.format(9.5) | '{:.2e}'.format(999500.0) | '%.1e' % 9.96 | '{:.1e}'.format(9.95) | '{:.0e}'.format(0.00095) | '{:zz}'.format(1) | '{:zz}'.format('a') | '{:zz}'.format(1.5)
('<'|e) == ('<'|e) | ('<'|e) == '&lt;' | ('<'|e) == 1 | ('<'|e) != ('>'|e) | 'a'|center(5, width=6) | joiner() == 1 | range == 1 | [range] == [1] | lipsum == lipsum | joiner(', ') in [1]
'0x_1'|int(7, 0) | '_1'|int(7) | '1_'|int(7) | '1__0'|int(7) | '010'|int(7, 0) | '0_0'|int(7, 0) | '00'|int(7, 0) | '_0x1'|int(7, 16) | '0x'|int(7, 16) | '0b12'|int(7, 0) | '0o17'|int(7, 0) | 'z'|int(7, 36) | '1'|int(7, 1) | '1'|int(7, 37) | ('1' * 5000)|int | ('1' * 5000)|int(0, 16) > 1 | '-0x1f'|int(0, 16) | '+ 5'|int(7)
'%d' % nope | '%c' % 65 | '%c' % 128512 | '%c' % -1 | '%d' % ((e ~ 'inf')|float) | '%d' % ((e ~ 'nan')|float) | '%i' % ((e ~ '-inf')|float) | '%x' % 1.5 | '%o' % 'a' | '%f' % 'a' | '%e' % none | '%d' % -5 | '%+d' % -5 | '% d' % -5 | '%05d' % -5 | '%x' % -255 | '%#o' % -8 | '%.2f' % -1.5 | '% .2f' % 1.5 | '%5.1f' % -0.05 | '%g' % -0.0 | '%s' % nope | '%f' % big | '%d' % big
2 ** 20000 | (2 ** 20000)|string | (2 ** 20000) > 1 | (10 ** 4299)|string|length | (10 ** 4300)|string|length | '%a' % 'é€😀' | '%a' % 'ab' | '{!a}'.format('é€😀') | '{!s:>4}'.format('a') | '{!z}'.format(1) | '{!}'.format(1) | '{!:5}'.format(1) | '{0!}'.format(1) | '{!rx}'.format(1) | '{!r}'.format('a') | '{0!s}'.format(none)
'é'.encode('latin-1').decode('latin-1') | 'é'.encode('latin-1') | 'é'.encode('iso-8859-1').decode('iso-8859-1') | 'é'.encode('ascii', 'replace') | 'é€'.encode('latin-1', 'replace') | 'é'.encode('ascii', 'ignore') | 'a'.encode('utf-9') | 'a'.encode().decode('utf-9') | 'é'.encode().decode('ascii') | 'é'.encode().decode('latin-1')
'{:{:{}}}'.format(1, 2, 3) | '{:{}}'.format(1, 5) | '{:{}}'.format(1) | '{a'.format(a=1) | '{a[b'.format(a=1) | '{0.}'.format(1) | '{0[]}'.format([1]) | '{0[a]}'.format([1]) | '{0[0]}'.format((5, 6)) | '{0[1]}'.format('ab') | '{0[9]}'.format([1]) | '{0[a]}'.format('ab') | '{0[-1]}'.format([1]) | '{0[a]}'.format((1,)) | '{0.real}'.format(5) | '{0.nope}'.format(5)
'abcabc'.partition('') | 'abcabc'.rpartition('') | 'abcabc'.count('b') | 'abcabc'.count('bc', 2) | 'aaa'.count('aa') | '7'.zfill(1) | '7'.zfill(0) | '-7'.zfill(-5) | 'abc'.zfill(2) | '{a}'.format_map({'a': 5}) | '{a}'.format_map(5) | 'x'.format_map(5) | '{a}'.format_map([1]) | 'x'.format_map() | 'x'.format_map({}, {}) | 'x'.format_map(a=1) | '{0}'.format_map({'0': 1}) | '{a}'.format_map({})
l['a':] | l[:'a'] | l[::'a'] | l[1.5:] | 'abc'[none:2] | 'abc'[true:] | l[1:2, 3] | l[1, 2] | a['k', 1] | {(1, 2): 5}[1, 2] | 'aXbXc'.split('X', 5) | 'aXbXc'.rsplit('X', 5) | 'aXbXc'.rsplit('X', 1) | ' a '.rsplit(none, 1) | ' '.rsplit(none, 1) | 'a b'.rsplit(none, 5) | 'a'.rsplit('', 1) | 'a'.rsplit('') | 'a'.split('', 1) | ''.rsplit('X', 1) | 'aXX'.rsplit('XX', 3)
range(3) is iterable | range(3) is sequence | range(3) is mapping | range(1, 5, 2).start | range(1, 5, 2).stop | range(1, 5, 2).step | range(3).nope | range(3) == 1 | range(3) == range(3) | range(0) == range(5, 5) | range(0, 3, 2) == range(0, 4, 2) | range(3) == [0, 1, 2] | range(3)['a'] | range(3)[5] | 2 in range(3) | 'a' in range(3) | 1.0 in range(3) | range() | range(1, 2, 3, 4) | range(1, 2, 0) | range('a') | range(none) | range(true)|list | range(2.0)
1 in {'a': 1}.values() | 5 in {'a': 1}.values() | 5 in {'a': 1}.items() | ('a', 2) in {'a': 1}.items() | ('a', 1, 2) in {'a': 1}.items() | {'a': 1}.keys() == 1 | {'a': 1}.keys() == {'a': 2}.keys() | {'a': 1}.items() == {'a': 1}.items() | {'a': 1}.values() == {'a': 1}.values() | {'a': 1}.keys() == {'a': 1, 'b': 2}.keys() | {'a': 1}.items() == {'a': 2}.items() | {'a': 1}.keys() == {'a': 1}.items() | {'a': 1}.keys()|length | {'a': 1}.keys() is sequence
{1: 2}|tojson | {none: 1}|tojson | {true: 1}|tojson | {1.5: 1}|tojson | {big: 1}|tojson | {'a': {1: {2: 3}}}|tojson | (e ~ 'inf')|float|int | (e ~ '-inf')|float|int(5) | (e ~ 'nan')|float|int(5) | '1e400'|int(5) | 'inf'|int(5) | 'nan'|int(5) | joiner() is callable | joiner('x')() | cycler(1) is callable | lipsum(n=1, min=5, max=5) | lipsum(n=1, min=6, max=5) | lipsum(n=none) | lipsum(n=0, min=5, max=5)
'{:abc}'.format(1) | '{:.}'.format(1.5) | '{:10zz}'.format('a') | '{:,_}'.format(1) | '{:,,}'.format(1) | '{:_,}'.format(1) | '{:__}'.format(1) | '{:.}'.format('a') | '{:é}'.format(1) | '{:5é}'.format('a') | '{: =5}'.format(1) | '{:5 }'.format(1) | 'abc' % range(3) | '%s' % range(3) | '%s' % joiner() | 'abc' % joiner() | nope|attr('x') | (nope|default(1))|attr('real')
'ǆa Ǆx'.title() | 'aB'.istitle() | 'Hello World'.istitle() | 'ǅa'.istitle() | 'A B'.istitle() | 'a b'.istitle() | '1a'.istitle() | 'ǆ'.capitalize() | '(see http://x.org/a_(b))'|urlize | 'http://x.org/(a).'|urlize | 'http://x.org/(a))'|urlize | '<http://x.org/<a>>'|urlize | 'a\tb c'|wordwrap(4) | 'ab\tc\nd\te'|wordwrap(20) | 'x\ty'|wordwrap(8)
1|foo.bar | 1 is foo.bar | 'a'|upper()(1) | 'a'|upper(1) | ('a'|upper).nope | i is odd(1) | i is divisibleby(3)(1) | a² | ²a | aé | é | 'a'|é | i.² | [a²] | x½y | ['x', 'b']|max(attribute='q') | []|min | [[]]|max | [none, 1]|max
""".strip()


def split_expressions(text):
    """Cells of the table: ` | ` between two expressions; a filter has no blanks around its bar."""
    for line in text.splitlines():
        yield from line.split(" | ")


# Whole templates: statements, scopes, white space, inheritance, imports, errors with their lines.
FILES = {
    "base": "[{% block title %}base{% endblock %}|{% block body %}B{{ self.title() }}{% endblock %}]{% block foot scoped %}F{% endblock %}",
    "mid": "{% extends 'base' %}{% block body %}mid({{ super() }}){% endblock %}",
    "lib": "{% set v = 5 %}{% set _p = 6 %}{% macro m(a, b=2) %}{{ a }}-{{ b }}{% endmacro %}{% macro ctx() %}{{ outer|default('none') }}/{{ i|default('noi') }}{% endmacro %}text{% for q in [1] %}{% set inloop = q %}{% endfor %}{% if true %}{% set inif = 1 %}{% endif %}",
    "inc": "<{{ i }}{{ loc|default('noloc') }}>",
    "bad": "line one\n{% if %}",
    "fails": "one\ntwo {{ nope }}",
    "nest": "{% include 'fails' %}",
    "req": "{% block need required %}{% endblock %}",
    "loop": "{% for x in range(2) %}{% block row scoped %}{{ x }}{% endblock %}{% endfor %}",
    "selfinc": "{% include 'selfinc' %}",
}

TEMPLATES = [
    # Missing attributes of objects, nested functions, incomplete templates.
    "{% for k in {'a': 1} %}{% do d2.pop(k) %}{% endfor %}", "{% set d2 = {'a': 1} %}{% for k in d2 %}{% do d2.pop(k) %}{% endfor %}", "{% set d2 = {'a': 1, 'b': 2} %}{% for k, v in d2.items() %}{% do d2.pop(k) %}{% endfor %}", "{% set q, w = nope %}", "{% for q, w in [nope] %}{% endfor %}", "{% for q, w in [5] %}{% endfor %}",
    "{% set q, w = range(2) %}{{ q }}{{ w }}", "{% set q, w = joiner() %}", "{% if yes %}{% extends 'base' %}{% endif %}{% block body %}own{% endblock %}{% block more %}x{% endblock %}after", "{% if no %}{% extends 'base' %}{% endif %}{% block body %}own{% endblock %}after",
    "{% if yes %}{% extends 'base' %}{% endif %}text{% set q = 1 %}{{ nope }}", "{% if yes %}{% extends 'base' %}{% endif %}{% if no %}{% extends 'mid' %}{% endif %}{% block body %}x{{ super() }}{% endblock %}", "{% extends 'base' %}{% extends 'mid' %}", "{% include ['bad', 'inc'] %}", "{% include ['nope1', 'bad'] %}",
    "{% include ['nope1', nope, 'inc'] %}", "{% include ['fails', 'inc'] %}", "{% include ['nest'] ignore missing %}", "{% include 'bad' ignore missing %}", "{% set ns = namespace(_x=1) %}{{ ns._x }}", "{% set ns = namespace(_x=1) %}{{ ns['_x'] }}", "{% import 'lib' as q %}{{ q._p }}", "{% import 'lib' as q %}{{ q.nope }}",
    "{% import 'lib' as q %}{{ q['nope'] }}", "{% import 'lib' as q %}{{ [q] }}", "{% from 'lib' import _p %}{{ _p }}", "{% import 'lib' as q %}{{ q.m.nope }}", "{% import 'lib' as q %}{{ q.inloop }}", "{% import 'lib' as q %}{{ q.inif }}", "{% macro m() %}{% endmacro %}{{ m.nope }}",
    "{% macro m() %}{% endmacro %}{{ m['nope'] }}", "{% macro m() %}{% endmacro %}{{ m == 1 }}{{ m == m }}", "{{ self }}", "{{ [self] }}", "{% block a %}{% endblock %}{{ self.a.nope }}", "{% block a %}{% endblock %}{{ self.a.name }}", "{% block a %}{{ self }}{% endblock %}", "{{ self.a.b }}", "{{ self['a'] }}",
    "{{ self.__class__ }}", "{% macro a() %}{% set q = 1 %}{% macro b() %}{% macro c() %}{{ q }}{% endmacro %}{{ c() }}{% endmacro %}{{ b() }}{% endmacro %}{{ a() }}",
    "{% macro a(q) %}{% macro b() %}{% macro c() %}{% macro d() %}{{ q }}{{ w|default('-') }}{% endmacro %}{{ d() }}{% endmacro %}{{ c() }}{% endmacro %}{{ b() }}{% endmacro %}{% set w = 3 %}{{ a(7) }}",
    "{% macro a(q) %}{{ caller() }}{% endmacro %}{% macro o(x) %}{% call a(1) %}{% call a(2) %}{{ x }}{% endcall %}{% endcall %}{% endmacro %}{{ o('in') }}",
    "{% macro o(x) %}{% for y in [[1, [2]]] recursive %}{% if y is iterable %}{{ loop(y) }}{% else %}{{ x }}{{ y }}{% endif %}{% macro z() %}{{ x }}{{ y }}{% endmacro %}{{ z() }}{% endfor %}{% endmacro %}{{ o('q') }}",
    "{% macro o(x) %}{% macro p() %}{% for y in [1, [2]] recursive if y != x %}{{ x }}{% if y is iterable %}{{ loop(y) }}{% endif %}{% endfor %}{% endmacro %}{{ p() }}{% endmacro %}{{ o(1) }}",
    "{% macro o(x) %}{% macro p() %}{% for y in l if y != x %}{% set x = y %}{{ x }}{% endfor %}{{ x }}{% endmacro %}{{ p() }}{% endmacro %}{{ o(1) }}", "a{#", "a{# b", "{#", "a{#-", "{% for a.k in l %}{% endfor %}", "{% for a['k'] in l %}{% endfor %}", "{% for (q, (w, e)) in [(1, (2, 3))] %}{{ q }}{{ w }}{{ e }}{% endfor %}",
    "{% for [q, w] in p %}{{ q }}{% endfor %}", "{% set ns = namespace() %}{% for ns.x in l %}{{ ns.x }}{% endfor %}", "{% set ns = namespace() %}{% with ns.x = 1 %}{% endwith %}", "{% for q in l if q.nope %}{% endfor %}", "{% set q = [] %}{% do q.append(q) %}{{ q|tojson }}",
    "{% set q = {} %}{% do q.update({'a': q}) %}{{ q|tojson }}", "{% set q = {'k': 1} %}{% do q.update(q) %}{{ q }}", "{% filter %}{% endfilter %}", "{% filter 5 %}{% endfilter %}", "{% filter upper|nofilter %}a{% endfilter %}", "{% filter foo.bar %}a{% endfilter %}", "{% set q | upper | length %}abc{% endset %}{{ q }}",
    "{% with q = undefined_name %}x{% endwith %}", "{% set q = nope %}x", "{% set q, w = nope, 1 %}{{ w }}", "{% for x in l %}{% set q = x %}{% endfor %}{{ q }}", "{% autoescape no %}{{ ('<'|e) == ('<'|e) }}{% endautoescape %}", "{% call 1 + m() %}{% endcall %}", "{% call(x) m %}{% endcall %}", "{% call m()() %}{% endcall %}",
    "{% autoescape false %}{{ '<' }}{{ i }}{% endautoescape %}", "{% autoescape true %}{{ i }}x{% endautoescape %}", "{% autoescape nope %}x{% endautoescape %}", "{% autoescape %}x{% endautoescape %}", "{% autoescape false %}x",
    # Jinja's own objects as text, and as booleans.
    "{% macro m(a) %}x{% endmacro %}{{ m }}{{ m and 1 }}{{ m is callable }}{{ m is string }}", "{% macro m() %}{{ caller }}{% endmacro %}{% call m() %}{% endcall %}", "{% for x in l %}{{ loop and 1 }}{{ loop is callable }}{{ loop == loop }}{{ loop }}{% endfor %}",
    "{% for x in l %}{{ loop() }}{% endfor %}", "{% for x in l %}{{ loop.cycle() }}{% endfor %}", "{% for x in l %}{{ loop.nope }}{% endfor %}", "{% for x in l %}{{ loop is iterable }}{% endfor %}", "{% for x in [[1]] recursive %}{{ loop(1, 2) }}{% endfor %}",
    "{% for x in l|map('string') %}{{ loop.last }}{{ loop.revindex }}{{ loop.nextitem|default('-') }}{% endfor %}", "{% for x in l %}{{ loop.length }}{{ loop.nextitem|default('-') }}{{ loop.nextitem|default('-') }}{% endfor %}",
    "{% import 'lib' as q %}{{ q and 1 }}{{ q }}{{ q is string }}{{ q.nope is defined }}", "{% import 'lib' as q %}{{ q['v'] }}{{ q.m(1) }}", "{{ self and 1 }}", "{% block a %}x{% endblock %}{{ self.a }}", "{% block a %}x{% endblock %}{{ self.a and 1 }}{{ self.a is callable }}", "{{ self.nope }}", "{% block a %}x{{ self.b is defined }}{% endblock %}",
    "{% extends 'base' %}{% block body %}{{ super }}{% endblock %}", "{% extends 'base' %}{% block body %}{{ super.name }}{{ super and 1 }}{{ super.super is defined }}{% endblock %}", "{% block a %}{{ super() }}{% endblock %}",
    "{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(1, a=2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**{'a': 1}) }}{{ m(*[2]) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(*5) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**5) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(b=2) }}",
    "{% continue %}", "{% macro m() %}{% break %}{% endmacro %}", "{% for x in l %}{% macro m() %}{% continue %}{% endmacro %}{% endfor %}", "{% call m %}{% endcall %}", "{% call 'a' %}{% endcall %}",
    "{% for x in a %}{% do a.update({x ~ x: 1}) %}{% endfor %}", "{% for x in l %}{% do l.append(1) if l|length < 9 %}{{ x }}{% endfor %}", "{% set ns = namespace(a=1) %}{{ ns and 1 }}{{ ns.a }}{% set ns.b = nope|default(2) %}{{ ns.b }}",
    "{% for a in [1] %}{% for b in [2] %}{% for c in [3] %}{% set d = a + b + c %}{{ a }}{{ b }}{{ c }}{{ d }}{% endfor %}{{ d|default('-') }}{% endfor %}{% endfor %}", "{% for a in [1] %}{% macro m() %}{% for b in [2] %}{{ a|default('-') }}{{ b }}{% endfor %}{% endmacro %}{{ m() }}{% endfor %}",
    "{% filter e|upper %}<{% endfilter %}", "{% filter format(1) %}%s{% endfilter %}", "{% set q | nofilter %}x{% endset %}", "{% with a = nope %}{% endwith %}", "{% include ['none', 'inc'] %}", "{% include ['none', 'no'] ignore missing %}x", "{% include [] %}", "{% include 5 %}", "{% import 5 as q %}", "{% extends 5 %}", "{% from 'lib' import nope %}{{ nope }}", "{% from 'lib' import v as q, m %}{{ q }}{{ m(1) }}",
    "{% if i > 5 %}big{% elif i > 3 %}mid{% else %}small{% endif %}", "{% if no %}x{% endif %}", "{% if i == 7 and not no or nope %}y{% endif %}",
    "{% for x in l %}{{ x }}{% if not loop.last %},{% endif %}{% endfor %}", "{% for x in x %}a{% else %}empty{% endfor %}",
    "{% for k, v in a.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k, v in p %}{{ k }}{{ v }}{% endfor %}", "{% for k, v in l %}{% endfor %}",
    "{% for a, b in [[1,2,3]] %}{% endfor %}", "{% for a, b in [[1]] %}{% endfor %}", "{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for x in 5 %}{% endfor %}", "{% for x in nope %}{% endfor %}", "{% for x in nil %}{% endfor %}", "{% for c in u %}[{{ c }}]{% endfor %}",
    "{% for x in l if x > 1 %}{{ loop.index }}:{{ x }}/{{ loop.length }};{% endfor %}", "{% for x in l if x > 5 %}{% else %}none{% endfor %}",
    "{% for x in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }} {% endfor %}",
    "{% for x in l %}{{ loop.previtem|default('-') }}<{{ x }}>{{ loop.nextitem|default('-') }} {% endfor %}", "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in [1,1,2,2,1] %}{{ loop.changed(x) }} {% endfor %}", "{% for x in l|map('string') %}{{ loop.length }}{{ x }}{% endfor %}",
    "{% for x in l %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "{% for x in l %}{% if x == 1 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}{% break %}{% else %}E{% endfor %}", "{% for x in l %}{% continue %}{% else %}E{% endfor %}", "{% break %}",
    "{% for x in [[1, [[2, []], [3, []]]]] recursive %}({{ x[0] }}@{{ loop.depth }}{{ loop(x[1]) }}){% endfor %}", "{% for x in l %}{{ loop(l) }}{% endfor %}",
    "{% for x in l %}{% for y in l %}{{ loop.index }}{% endfor %}{{ loop.index }} {% endfor %}", "{% for loop in l %}{% endfor %}", "{% for x in l %}{% set loop = 1 %}{% endfor %}",
    "{% set q = 1 %}{% for x in l %}{% set q = x %}{{ q }}{% endfor %}{{ q }}", "{% for x in l %}{% endfor %}{{ x }}", "{% set x = 1 %}{% for x in l %}{% endfor %}{{ x }}",
    "{% for x in l %}{% if loop.first %}{% set q = x %}{% endif %}{{ q|default('u') }}{% endfor %}", "{% if yes %}{% set q = 1 %}{% endif %}{{ q }}", "{% if no %}{% set q = 1 %}{% endif %}{{ q }}",
    "{% if no %}{% set i = 1 %}{% endif %}{{ i }}", "{% set i = i + 1 %}{{ i }}", "{{ q }}{% set q = 1 %}", "{% set q %}a{{ i }}{% endset %}{{ q }}", "{% set q | upper | replace('A', 'b') %}a{{ i }}{% endset %}{{ q }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set (a, b) = (1, 2) %}{{ a }}{{ b }}", "{% set a = 1, 2 %}{{ a }}", "{% set a.b = 1 %}", "{% set ns = namespace(v=0) %}{% for x in l %}{% set ns.v = ns.v + x %}{% endfor %}{{ ns.v }}",
    "{% set ns = namespace() %}{% set ns.a, ns.b = 1, 2 %}{{ ns.a }}{{ ns.b }}", "{% set ns = namespace(v=0) %}{{ ns }}", "{% set nope.x = 1 %}", "{% set 1 = 2 %}", "{% set none = 2 %}",
    "{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q|default('gone') }}", "{% with a = 1, b = i %}{{ a }}{{ b }}{% endwith %}{{ a.k }}", "{% with a = 1, b = a %}{{ b.k }}{% endwith %}",
    "{% macro m(x, y='d') %}{{ x }}{{ y }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(y=3, x=4) }}", "{% macro m(x) %}{{ x }}{% endmacro %}{{ m() }}", "{% macro m(x) %}{{ x|default('n') }}{% endmacro %}{{ m() }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, a=3) }}", "{% macro m() %}{% endmacro %}{{ m(1) }}", "{% macro m() %}{% endmacro %}{{ m(a=1) }}", "{% macro m(a, b=a) %}{{ b }}{% endmacro %}{{ m(1) }}",
    "{% macro m() %}{{ i }}{{ q }}{% endmacro %}{% set q = 1 %}{{ m() }}", "{% macro m(n) %}{{ n }}{% if n > 0 %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(3) }}", "{% macro m() %}{% set q = 1 %}{% endmacro %}{{ m() }}{{ q|default('u') }}",
    "{% macro m(a) %}<{{ caller() }}>{% endmacro %}{% call m(1) %}in{{ i }}{% endcall %}", "{% macro m(a) %}{{ caller(a, 2) }}{% endmacro %}{% call(x, y=0) m(5) %}{{ x }}{{ y }}{% endcall %}", "{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}",
    "{% macro m() %}{% endmacro %}{% call m() %}{% endcall %}", "{% macro m(a, b) %}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m.caller }}", "{% macro m(caller) %}{{ caller }}{% endmacro %}{{ m() }}",
    "{% macro m(a=1, b) %}{% endmacro %}", "{{ m() }}{% macro m() %}{% endmacro %}", "{% if yes %}{% macro m() %}x{% endmacro %}{% endif %}{{ m() }}", "{% call 1 %}{% endcall %}", "{% macro m(x) %}{{ m2(x) }}{% endmacro %}{% macro m2(x) %}[{{ x }}]{% endmacro %}{{ m(1) }}",
    "{% filter upper %}a{{ s }}{% endfilter %}", "{% filter replace('a', 'b')|upper %}a{% endfilter %}", "{% filter nofilter %}{% endfilter %}", "{% do l.append(9) %}{{ l }}", "{% do nope %}x", "{% print i, s %}",
    "{% raw %}{{ x }}{% if %}{% endraw %}!", "a {%- raw -%} x {%- endraw -%} b", "{# c #}x{# {{ y }} #}", "a {#- c -#} b", "{# open", "{% raw %}open", "{{ 'x' -}} y", "a {{- 'x' }} b", "a\n  {%- if yes %}\n b{% endif +%}\n c",
    "{% if yes -%}\n\n  x  \n{%- endif %}", "a\n{% if yes %}\nb\n{% endif %}\nc\n", "a\r\nb\rc\n", "{{ '{{' }}{{ '}}' }}", "{{ {'a': {'b': 1}} }}", "{{ [[1]] }}", "{%if yes%}x{%endif%}", "{%- set q = 1 -%} x {{- q }}", "x\n\n\n",
    "{% autoescape true %}{{ '<' }}{% endautoescape %}" if False else "{{ '<' }}", "{% if yes: %}x{% endif %}", "{{ i;s }}",
    "{% extends 'base' %}x{% block title %}T{% endblock %}", "{% extends 'mid' %}{% block body %}top({{ super() }}){% endblock %}", "{% extends 'mid' %}{% block body %}{{ super.super() }}{% endblock %}", "{% extends 'base' %}{% block title %}{{ super() }}{{ super.super() }}{% endblock %}",
    "{% extends 'base' %}{% set q = 4 %}{% block title %}{{ q|default('u') }}{% endblock %}", "{% extends nope %}", "{% extends 'none' %}", "{% extends 'base' %}{% extends 'mid' %}", "{% if yes %}{% extends 'base' %}{% endif %}x", "{% if no %}{% extends 'base' %}{% endif %}x",
    "{% block a %}1{% endblock %}{{ self.a() }}{% block b %}2{% endblock b %}", "{% block a %}{% endblock %}{% block a %}{% endblock %}", "{% block a-b %}{% endblock %}", "{% for x in l %}{% block a %}{{ x }}{% endblock %}{% endfor %}", "{% for x in l %}{% block a scoped %}{{ x }}{% endblock %}{% endfor %}",
    "{% extends 'req' %}", "{% extends 'req' %}{% block need %}ok{% endblock %}", "{% extends 'loop' %}{% block row %}[{{ x }}]{% endblock %}", "{% block a required %}x{% endblock %}", "{{ self.zz() }}", "{% for x in l %}{% extends 'base' %}{% endfor %}",
    "{% block a %}{% set q = 1 %}{{ q }}{% endblock %}{{ q|default('u') }}", "{% set q = 1 %}{% block a %}{{ q }}{% endblock %}",
    "{% include 'inc' %}", "{% set loc = 1 %}{% include 'inc' %}", "{% for loc in l %}{% include 'inc' %}{% endfor %}", "{% include 'inc' without context %}", "{% include 'zz' %}", "{% include 'zz' ignore missing %}x", "{% include ['zz', 'inc'] %}", "{% include ['zz', 'yy'] %}",
    "{% include ['zz'] ignore missing with context %}x", "{% include [] %}", "{% include nope %}", "{% include 'bad' %}", "{% include 'bad' ignore missing %}", "a\n{% include 'fails' %}", "{% include 'nest' %}", "{% with loc = 3 %}{% include 'inc' %}{% endwith %}",
    "{% import 'lib' as lib %}{{ lib.v }}{{ lib.m(1) }}{{ lib }}{{ lib.ctx() }}{{ lib.inif }}", "{% import 'lib' as lib %}{{ lib._p }}", "{% import 'lib' as lib %}{{ lib.inloop }}", "{% import 'lib' as lib %}{{ lib.zz }}", "{% import 'lib' as lib %}{{ lib.zz|default('D') }}",
    "{% set outer = 'O' %}{% import 'lib' as lib with context %}{{ lib.ctx() }}", "{% from 'lib' import m, v as w %}{{ m(1) }}{{ w }}", "{% from 'lib' import zz %}x", "{% from 'lib' import zz %}{{ zz }}", "{% from 'lib' import _p %}", "{% from 'lib' import m with context %}{{ m(2) }}",
    "{% set outer = 'O' %}{% from 'lib' import ctx with context %}{{ ctx() }}", "{% from 'lib' import ctx %}{{ ctx() }}", "{% from 'zz' import a %}", "{% from 'lib' import m, %}{{ m(1) }}", "{% from 'lib' import with context %}x", "{% import 'lib' %}", "{% for q in l %}{% import 'lib' as lib with context %}{{ lib.v }}{% endfor %}",
    "{% macro a() %}{% import 'lib' as lib %}{{ lib.v }}{% endmacro %}{{ a() }}", "{% include 'selfinc' %}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{% foo %}", "{% if %}", "{% if yes %}", "{% endif %}", "{% if yes %}{% endfor %}", "{% for x in l %}{% if x %}{% endfor %}", "{% for x l %}{% endfor %}", "{% for x in %}{% endfor %}", "{% for 1 in l %}{% endfor %}", "{% if yes %}{% else %}{% else %}{% endif %}", "{{ }}", "{{ 1 ", "{{ 1 }", "{% set %}", "{% set x %}", "{% block %}{% endblock %}",
    "{% include %}", "{% macro %}{% endmacro %}", "{% macro m %}{% endmacro %}", "{% 1 %}", "{%", "{{", "{% set q = 1 %", "{{ a['k' }}", "{{ (1] }}", "{{ 1) }}", "{% from 'lib' %}", "{% call %}", "{% filter %}{% endfilter %}", "{% with a %}{% endwith %}", "{% raw %}{% raw %}{% endraw %}",
    "a\nb\n{{ nope }}", "a\n{% for x in l %}\n{{ x.y }}\n{% endfor %}", "\n\n{% set q = nope.x %}", "{% macro m() %}\n\n{{ nope }}{% endmacro %}\n{{ m() }}", "a\n{{ 1 / 0 }}", "{{ i\n+ nope }}", "{{ [1,\n2,\nnope.x] }}", "{% if yes %}\n{% elif nope %}\n{% endif %}", "{% if no %}\n{% elif nope %}\n{% endif %}",
    "{% for x in l %}{% do l.append(1) if l|length < 6 %}{{ x }}{% endfor %}", "{% for k in a %}{% do a.update({k ~ 'x': 1}) %}{% endfor %}", "{% for k in a.keys()|list %}{% do a.pop(k) %}{% endfor %}{{ a }}", "{% set x = [1, 2, 3] %}{% set y = x %}{% do y.append(4) %}{{ x }}", "{% set d = {} %}{% do d.update(a) %}{% do d.sub.update({'q': 1}) %}{{ a.sub }}",
    "{{ m|sort|join(', ') }} {{ m|map('lower')|sort|list }}", "{% set q = [] %}{% do q.append(q) %}{{ q }}", "{{ '%s' % (m|join) }}{{ [m|map('upper')]|length }}", "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.reset() }}{{ c.current }}",
    "{% set j = joiner('|') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}", "{{ dict(a=1)['a'] }}{{ dict(**{'b': 2}).b }}", "{% macro m() %}{{ varargs|join }}{{ kwargs.q }}{% endmacro %}{{ m(*[1, 2], **{'q': 3}) }}", "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(**{'y': 1}) }}", "{{ '{}'.format(*[1]) }}", "{{ dict(*5) }}",
    "{% if 1 is notest %}{% endif %}", "{{ 1|nofilter }}", "{% if no %}{{ 1|nofilter }}{% endif %}ok", "{% if yes %}{{ 1|nofilter }}{% endif %}", "{{ (1|nofilter) if no else 2 }}", "{% for x in l %}{{ 1|nofilter }}{% endfor %}",
]

# Blocks `autoescape`: output in them, and calls from them.
IN_AUTOESCAPE = [
    "{{ '<b>' }}", "{{ '<b>'|e }}", "{{ '<b>'|escape|e }}", "{{ '<b>'|forceescape }}", "{{ '<b>'|e|forceescape }}", "{{ '<b>'|safe }}", "{{ '<b>'|safe|upper }}", "{{ '<b>'|upper }}", "<i>{{ 1 }}</i>", "{{ 1.5 }}{{ none }}{{ true }}",
    "{{ ['<', '\"', \"'\"] }}", "{{ {'<': '&'} }}", "{{ ('<',) }}", "{{ '<' ~ '>' }}", "{{ e ~ '<' ~ '>'|safe }}", "{{ '<'|safe ~ '>' ~ i }}", "{{ '<'|safe + '>' }}", "{{ '<' + '>'|safe }}", "{{ '<' + '>' }}", "{{ '<%s>'|safe % '&' }}", "{{ '<%s>' % '&' }}",
    "{{ '<%s>'|safe|format('&') }}", "{{ '<'|safe * 2 }}", "{{ ['<', '&']|join }}", "{{ ['<', '&']|join('>') }}", "{{ ['<'|safe, '&']|join('>') }}", "{{ ['<', '&']|join('>'|safe) }}", "{{ [1, '<'|safe, none]|join('&') }}", "{{ [{'v': '<'|safe}, {'v': '&'}]|join(', ', 'v') }}", "{{ []|join('<') }}",
    "{{ '<a>'|replace('a', 'b') }}", "{{ '<a>'|replace('a', '<'|safe) }}", "{{ '<a>'|safe|replace('a', '<') }}", "{{ '<a>'|safe|replace('a', '<'|safe) }}", "{{ '<a>'|replace('<'|safe, 'x') }}", "{{ '<a>'|replace('&lt;'|safe, 'x') }}", "{{ 'aaa<'|replace('a', 'b', 2) }}", "{{ 5|replace(5, '<') }}",
    "{{ 'http://x.org/?a=1&b=2 <'|urlize }}", "{{ {'a': '<', 'b': none}|xmlattr }}", "{{ {}|xmlattr }}", "{{ {'a': '<'}|tojson }}", "{{ 'a<b'|indent }}", "{{ 'a<\\nb'|safe|indent }}", "{{ '<a>'|striptags }}", "{{ '<'|safe|string }}", "{{ '<'|string }}", "{{ '<abcdefghijk>'|truncate(5) }}",
    "{{ '<'|center(5) }}", "{{ '<'|safe|center(5) }}", "{{ ' < '|trim }}", "{{ ' < '|safe|trim }}", "{{ '<'|safe|replace('<', '>') }}", "{{ ['<']|first }}", "{{ ['<', '>']|map('e')|join }}", "{{ ['<', '>']|map('upper')|list }}", "{{ '<'|urlencode }}", "{{ '<'|default('>') }}", "{{ nope|default('<') }}",
    "{{ '<' is escaped }}{{ '<'|safe is escaped }}{{ '<'|e is escaped }}", "{{ '<'|safe == '<' }}", "{{ '<' if i else 1 }}", "{{ '<'[0] }}{{ ('<>'|safe)[0] }}", "{{ '<b>'|e|length }}", "{{ '<'|pprint }}", "{{ '<'|wordwrap }}", "{{ '<'|title }}{{ '<'|capitalize }}",
    "{% set q = '<' %}{{ q }}", "{% set q %}<{{ '<' }}{% endset %}{{ q }}{{ q is escaped }}", "{% set q|upper %}<a{{ '<' }}{% endset %}{{ q }}", "{% set q|length %}<{% endset %}{{ q }}", "{% filter upper %}<a{{ '<' }}{% endfilter %}", "{% filter replace('<', '>') %}<{{ '<' }}{% endfilter %}", "{% filter e %}<{% endfilter %}",
    "{% macro w(x) %}<{{ x }}{% endmacro %}{{ w('<') }}{{ w('<') is escaped }}{{ w('<'|safe) }}{{ w('<')|upper }}", "{% macro w(x) %}<{{ caller('&') }}{% endmacro %}{% call(y) w(1) %}>{{ y }}{% endcall %}", "{{ outer('<') }}{{ outer('<') is escaped }}",
    "{% call outer('<') %}{% endcall %}", "{% for x in ['<', ['>', ['&']]] recursive %}{% if x is string %}{{ x }}{% else %}[{{ loop(x) }}]{% endif %}{% endfor %}", "{% for x in ['<'] %}{{ x }}{{ loop.index }}{% endfor %}", "{% include 'inc' %}", "{% import 'lib' as lib %}{{ lib }}{{ lib is escaped }}", "{% from 'lib' import m %}{{ m('<') }}",
    "{% autoescape false %}{{ '<' }}{{ outer('<') }}{% endautoescape %}{{ '<' }}", "{% if i %}{{ '<' }}{% endif %}", "{% with q = '<' %}{{ q }}{% endwith %}", "{% set ns = namespace(q='<') %}{{ ns.q }}{{ ns }}", "{{ range(2) }}", "{{ outer }}", "{{ cycler('<', '>').next() }}", "{{ joiner('<')() }}", "{% do l.append('<') %}{{ l }}",
    "{% for x in l %}{% break %}{% endfor %}{{ '<' }}", "{{ '<' * 2 }}{{ -1 }}", "{{ '{}'|safe }}{{ '<{}>'.format('&') }}{{ ('<{}>'|safe).format('&') }}", "{{ ('<%s'|safe) % ('&'|safe) }}", "{{ ('<'|safe).join(['&', '&'|safe]) }}", "{{ '<'.join(['&'|safe]) }}", "{{ 'a'.replace('a', '<') }}{{ ('a'|safe).replace('a', '<') }}",
]
AUTOESCAPE = [
    *("{% macro outer(x) %}<{{ x }}{% endmacro %}{% autoescape true %}" + body + "{% endautoescape %}" for body in IN_AUTOESCAPE),
    # If a variable decides about escaping, Jinja does not escape constants: these cases use variables instead of texts.
    *("{% set lt, gt = '<', '>' %}{% macro outer(x) %}<{{ x }}{% endmacro %}{% autoescape yes %}" + body.replace("'<'", "lt").replace("'>'", "gt") + "{% endautoescape %}" for body in IN_AUTOESCAPE if "'<'" in body and "lt * 2" not in body),
    "{% autoescape false %}{{ '<' }}{{ ['<', '>'|safe]|join('&') }}{% endautoescape %}", "{% autoescape no %}{{ '<' }}{% endautoescape %}", "{% autoescape none %}{{ '<' }}{% endautoescape %}", "{% autoescape 'x' %}{{ '<' }}{% endautoescape %}", "{% autoescape not no %}{{ e ~ '<' }}{% endautoescape %}",
    "{% autoescape true %}{% endautoescape %}{{ '<' }}", "{% autoescape true %}{% macro in(x) %}{{ x }}{% endmacro %}{% endautoescape %}", "{% autoescape true %}{% macro w(x) %}{{ x }}{% endmacro %}{% autoescape false %}{{ w('<') }}{{ w('<') is escaped }}{% endautoescape %}{% endautoescape %}",
    "{% for x in [true, false, true] %}{% autoescape x %}{{ e ~ '<' }}{% endautoescape %}{% endfor %}", "{% for x in l %}{% autoescape true %}{% break %}{% endautoescape %}{% endfor %}{{ '<' }}{{ ['<'|safe, '>']|join('&') }}", "{% autoescape true %}{% block b %}{{ '<' }}{{ e ~ '<' ~ '>'|safe }}{{ [e|safe, '>']|join }}{% endblock %}{% endautoescape %}",
    "{% autoescape true %}{% block b %}<{% endblock %}{{ self.b() }}{{ self.b() is escaped }}{% endautoescape %}", "{% block b %}{% autoescape true %}{{ '<' }}{% endautoescape %}{{ '<' }}{% endblock %}", "{% autoescape true %}{{ nope }}{% endautoescape %}", "{% autoescape true %}{{ '<' + 1 }}{% endautoescape %}", "{% autoescape %}{% endautoescape %}",
    "{% autoescape true %}x", "{% autoescape true %}{% set q = '<' %}{% endautoescape %}{{ q }}", "{% set q = '<' %}{% autoescape true %}{% set q = q|e %}{{ q }}{% endautoescape %}{{ q }}",
]

OPTION_CASES = [
    ({"trim_blocks": True}, "a\n{% if yes %}\nb\n{% endif %}\nc\n"), ({"lstrip_blocks": True}, "a\n  {% if yes %}\n  b\n  {% endif %}\nc"), ({"trim_blocks": True, "lstrip_blocks": True}, "a\n  {% if yes %}\n  b\n  {% endif %}\n  {# c #}\nc"),
    ({"lstrip_blocks": True}, "  {{ i }}\n  {%+ if yes %}x{% endif %}\n \t{% set q = 1 %}y"), ({"trim_blocks": True}, "{% if yes +%}\nx{% endif %}\n{{ i }}\ny{# c #}\nz"), ({"keep_trailing_newline": True}, "x\n\n"), ({"keep_trailing_newline": False}, "x\n\n"),
    ({"newline_sequence": "\r\n", "keep_trailing_newline": True}, "a\nb\r\nc{{ 'x\ny' }}\n"), ({"variable_start_string": "${", "variable_end_string": "}"}, "${ i } {{ i }} ${ {'a': 1}.a }"), ({"block_start_string": "<%", "block_end_string": "%>"}, "<% if yes %>x<% endif %> {% x %}"),
    ({"comment_start_string": "<#", "comment_end_string": "#>"}, "a<# c #>b{# d #}"), ({"block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "<%=", "variable_end_string": "%>"}, "<% if yes %><%= i %><% endif %>"),
    ({"line_statement_prefix": "%"}, "a\n% if yes\nb\n  % for x in l:\n{{ x }}\n  % endfor\n% endif\nc"), ({"line_statement_prefix": "#", "line_comment_prefix": "##"}, "a ## c\n# if yes\nb ## d\n## whole\n# endif\nc"), ({"line_comment_prefix": "//"}, "a // x\n// y\nhttp://z"),
    ({"line_statement_prefix": "%"}, "% set q = [1,\n 2]\n{{ q }}"), ({"line_statement_prefix": "%"}, "50% off\n % set q = 1\n{{ q }}"), ({"lstrip_blocks": True}, "  {% raw %} x {% endraw %}\n  {% raw %}y\n  {% endraw %}z"), ({"trim_blocks": True}, "{% raw %}\nx\n{% endraw %}\ny"),
    ({"lenient": True}, "[{{ nope }}]{{ nope is defined }}{% for x in nope %}{% endfor %}{{ nope|length }}{{ nope == nope2 }}{% if nope %}{% else %}E{% endif %}"), ({"lenient": True}, "{{ nope.x }}"), ({"lenient": True}, "{{ nope + 1 }}"), ({"lenient": True}, "{{ a.nope }}|{{ nope|default('D') }}|{{ nope ~ 'x' }}|{{ [nope] }}|{{ nope|list }}|{{ 'x' in nope }}|{{ nope|join }}"),
    ({"lenient": True}, "{{ nope() }}"), ({"lenient": True}, "{{ nope|int }}"), ({"lenient": True}, "{{ nope is iterable }}{{ nope is sequence }}{{ nope is string }}{{ nope is none }}{{ not nope }}"), ({"lenient": True}, "{% from 'lib' import zz %}[{{ zz }}]"), ({"lenient": True}, "{{ nope is mapping }}{{ nope|string }}{{ nope|upper }}{{ nope|trim }}{{ nope|first }}"),
]


class Maker:
    """Random expressions over the variables: most are valid, many raise."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def literal(self):
        return self.random.choice(["0", "1", "-2", "3", "10", "1.5", "-0.25", "2.0", "1e3", "''", "'a'", "'b c'", "'7'", "true", "false", "none", "[]", "[1, 'x']", "{}", "{'k': 2}", "(1,)", "(2, 'a')", "'é'"])

    def atom(self):
        return self.random.choice([self.literal, lambda: self.random.choice([*VARIABLES, "nope"])])()

    def expression(self, depth):
        if depth <= 0:
            return self.atom()
        sub = lambda: self.expression(depth - self.random.randint(1, 2))
        kind = self.random.randrange(12)
        if kind < 3:
            return f"({sub()} {self.random.choice(['+', '-', '*', '/', '//', '%', '~', '+', '~'])} {sub()})"
        if kind == 3:
            return f"({sub()} {self.random.choice(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} {sub()})"
        if kind == 4:
            return f"({sub()} {self.random.choice(['and', 'or'])} {sub()})"
        if kind == 5:
            return f"({self.random.choice(['not ', '-', '+'])}{sub()})"
        if kind == 6:
            return f"{sub()}|{self.random.choice(FILTERS)}"
        if kind == 7:
            return f"({sub()} is {self.random.choice(TESTS)})"
        if kind == 8:
            return f"{self.atom()}.{self.random.choice(METHODS)}"
        if kind == 9:
            return f"{self.random.choice([*VARIABLES, 'nope'])}[{self.random.choice(['0', '-1', '1:', ':2', '::-1', repr('k'), 'i', '9'])}]"
        if kind == 10:
            return f"({sub()} if {sub()} else {sub()})"
        return f"[{sub()}, {sub()}]"


FILTERS = ["length", "upper", "lower", "list", "first", "last", "string", "int", "float", "abs", "round", "round(1)", "sort", "reverse|list", "join", "join('-')", "unique|list", "sum", "min", "max", "default('D')", "default('D', true)", "title", "capitalize", "trim", "replace('a', 'b')", "center(7)", "tojson", "e", "wordcount", "batch(2)|list", "slice(2)|list", "items|list", "dictsort", "map('string')|list", "select|list", "reject('string')|list", "truncate(5)", "indent(2)", "format(1)", "urlencode", "striptags", "count", "map('upper')|join", "groupby(0)", "filesizeformat"]
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "mapping", "sequence", "iterable", "odd", "even", "divisibleby(2)", "true", "false", "boolean", "lower", "upper", "eq 1", "in [1, 'a']", "sameas none", "lt 2", "callable", "escaped"]
METHODS = ["upper()", "strip()", "split()", "split('b')", "keys()|list", "items()|list", "values()|list", "get('k')", "get('zz', 3)", "count(1)", "index(1)", "k", "name", "join(['x', 'y'])", "startswith('a')", "format(1, 2)", "replace('a', 'Q')", "find('o')", "title()", "copy()", "zfill(4)", "isdigit()", "real", "bit_length()", "is_integer()", "append(1)", "pop()", "update({'k': 9})", "setdefault('n', 1)", "sub.q", "encode()", "splitlines()", "partition(' ')", "center(5)"]


def fresh(source, **options):
    """A result with new variables, because templates change them."""
    global VARIABLES
    saved = json.dumps(VARIABLES)
    try:
        return answer(source, FILES, **options)
    finally:
        VARIABLES = json.loads(saved)


def main():
    cases = []
    expressions = [*split_expressions(EXPRESSIONS)]
    maker = Maker(20261122)
    expressions += [maker.expression(maker.random.choice([1, 2, 2, 3, 3, 4])) for _ in range(2500)]
    seen = set()
    for expression in expressions:
        if expression in seen:
            continue
        seen.add(expression)
        result = fresh("{{ " + expression + " }}")
        if " at 0x" in json.dumps(result):
            continue  # the address of an object
        cases.append({"expression": expression, **result})
    templates = [{"template": template, **fresh(template)} for template in [*TEMPLATES, *AUTOESCAPE]]
    cases += [case for case in templates if " at 0x" not in json.dumps(case)]
    cases += [{"template": template, "options": options, **fresh(template, **options)} for options, template in OPTION_CASES]
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    sys.stdout.write('{"variables": ' + json.dumps(VARIABLES) + ',\n"files": ' + json.dumps(FILES) + ',\n"cases": [\n' + lines + "\n]}\n")


main()
