"""Writes shell_words.json: command lines and the results of Python's shlex.split (a string: its error).

Run by hand with any Python 3: python3 make_shell_words.py > shell_words.json
"""
import json, random, shlex

random.seed(4505)
lines = ["", " ", "a", "a b", "a  b\tc\nd", "''", "a ''", '""', "'a b'", '"a b"', "a'b'c", '"a\\"b"', "'a\\'", '"a\\\\b"', '"a\\nb"', "a\\ b",
         "a\\", "'a", '"a', "# no comment", "a#b", "a;b|c", "\u00e9 '\u4e2d \u6587' \U0001f600", "a\\\nb", "\x0b\x0ca", "a\u00a0b", "''''", "\"'\"'\"'", "x=\"a b\" y='c d'"]
lines += ["".join(random.choice("ab \\'\"\t") for _ in range(random.randint(1, 14))) for _ in range(400)]
cases = []
for line in dict.fromkeys(lines):
    try:
        cases.append([line, shlex.split(line)])
    except ValueError as exc:
        cases.append([line, str(exc)])
print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")
