"""Writes glob.json and regex.json: the matches of patterns with Python's fnmatch and re. See README.md."""

import fnmatch
import json
import pathlib
import re
import warnings

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).parent

GLOBS = ["*","","?","web*","web?","*1","w*b*1","[a-c]x","[!a-c]x","[]]","[!]]","[]-a]","[","[a","[!","[!]","a[","[a-","[a-]","[-a]","[a-c-e]","[z-a]","[!z-a]x","[ab-d]","[--a]","[a--]","[^a]","[\\]","a\\*","a\\\\*","**","*a*a*a*b","[[]","[*]","[?]","web[0-9][0-9].*","*.example.com","a.c","a+b","{a,b}","é*","[é-ü]","?😀","😀?","[😀-😂]","a\nb","a?b","[a-b-c-d]","[a-b--]","[&&a]","[a||b]","[~~]","Web*","$*","^a","(a|b)"]
GLOB_TEXTS = ["","a","b","c","d","e","x","ax","dx","]","[","-","web","web1","web10","webx1","web01.example.com","w-b-1","^","\\","a\\","a\\b","a*","*","?","é1","ü","z","aaab","aaaaaaaaac","abab","a.c","abc","a+b","{a,b}","x😀","😀y","😁","a\nb","a-b","!","&","|","~","Web1","$x","^a","(a|b)","[!","[!]","[a-"]
PATTERNS = ["(a)(?<=\\1)b","(ab)(?<=\\1)a","(a)?\\1b","(?:(a)|b)\\1","(?:a|a)(?=b)bb","(?:a|a)(?!b)bb","(?:a|a)(?:b|c)(x)\\1","(?i)(a)\\1","(?i)(é)\\1","(a)(?:b|b)\\1","(?:(x)|(a))(?:\\1|b)",
 "web","web$","^web\\d+$",".*","","a|b","web(1|2)","web[0-9]{2}","web[0-9]{,1}$","w{,}eb","a{2}","a{x","a{1,2","a{","}","]","(?i)WEB","(?i:W)eb","(?s).","a.b","(?m)^b","(?sm)a.^b$","\\Aweb\\Z","(?P<n>.)(?P=n)","(.)\\1","(?P<x>a)(b)\\2\\1","\\w+","\\W","\\d","\\D+","\\s","\\S+","(?a)\\w+$","(?a)\\d","[\\w.-]+$","[^\\W\\d]+$","[\\d\\-a]+","[]a]+","[^]a]+","[a-]+","[-a]+","[a\\]b]+","[\\x41-\\x5a]+","\\x41","\\101","\\0","[\\0]","\\t","\\n","[\\b]","\\bweb\\b","we\\Bb","\\.","\\-","\\_","\\/","\\é","a(?#note)*b","(?x) w e b # note\n1","(?x)[ ]a","(?:ab)+","(?=web)w","(?!web)w","(?<=w)e","w(?<!x)eb","web+?","(a*)*b","[[a]","[a&&b]+","[a--b]","é","\\u00e9","\\U0001F600","😀{2}","^😀.$","[😀-😂]","$","web$\\n","(?i)É","(?-i:a)","(?is-m:A.)","a|","|a","()","(){2}","x*","(?:)","\\Z","a\\Z","a$","\\w$","[\\s]","[^\\s]+","[^\\n]","\\\\","\\$","[.]","[$^]","web-\\d","(?P<größe>a)\\w","{2}","(web)?(db)?1",
 # refused
 "(","a)","[","[a","*","a**","+a","?","(?P<1>a)","(?P=x)","\\1","(a\\1)","(?P<n>a)(?P<n>b)","\\q","[\\q]","a{2,1}","[z-a]","[\\d-z]","\\","a(?i)b","(?z)","(?<n>a)","\\x4","\\400","^*","$*","\\b+","(?#x","|*","(?P<n","(*a)","[\\8]","\\8"]
TEXTS = ["","a","b","aa","aab","ab","ba","b\n","a\n","a\nb","web","WEB","web1","web2","web10","web\n","web1\n","db1","1","é","É","éa","٣","A","Z","@","\x00","\t","\n"," "," a","\x08","\x85","\u200b","\u2028","we b",".","-","_","/","a{x","a{1,2","a{","}","]","[a","&","😀","😀😀","😁x","ab1","aba","abba","aéb","a.b","w","webb","\\","$","^","web-1","q","w.e-b","aA","Éé","abab","aXbX","cc"]


def write(name, content):
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    (HERE / name).write_text(text)


def matches(pattern):
    try:
        compiled = re.compile(pattern)
    except Exception:
        return None
    found = [(i, compiled.match(text)) for i, text in enumerate(TEXTS)]
    return [[i, match.group(0)] for i, match in found if match]


def refusal(pattern):
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)


PLACES = ["[a\\","[\\U00110000]","\\U00110000","(a*)(?<=\\1)b","(?<=(a)\\1)b","(?<=(a*))b","(?<=a|bc)d","x(", "a(b(c)", "(?:a", "(?i:a", "(?P<n>a", "(?=a", "x[a", "[^]", "ab*+x**", "a{1}{2}", "ab{3,1}", "(?P<a>x)(?P<a>y)", "a(?P=no)", "(?P<a b>x)", "(?P<>x)", "(a)\\2", "(?P<n>a(?P=n))", "x[z-a]", "[a\\d-z]", "ab\\", "x(?i)b", "a\\x4", "a\\u12", "a\\400", "x(?#y", "x\\q", "[a\\q]", "(?<=a*)b", "(?~a)", "(?Pa)", "(?<a)", "a)"]

SPLITS = [["X", "aXbX"], ["(X)", "aXbX"], ["x*", "axbc"], ["", "ab"], ["(a)|b", "cadbe"], ["z", "abc"], [",", ""], ["^", "a"], ["😀", "a😀b"], ["(?m)^", "a\nb"]]

write("glob.json", {
    "texts": GLOB_TEXTS,
    "globs": [[glob, [i for i, text in enumerate(GLOB_TEXTS) if fnmatch.fnmatchcase(text, glob)]] for glob in GLOBS],
})
write("regex.json", {"texts": TEXTS, "patterns": [[pattern, matches(pattern)] for pattern in PATTERNS],
    "splits": [[pattern, text, re.split(pattern, text)] for pattern, text in SPLITS],
    "refused": [[pattern, refusal(pattern)] for pattern in [*PATTERNS, *PLACES] if refusal(pattern)]})
