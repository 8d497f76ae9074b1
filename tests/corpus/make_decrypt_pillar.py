"""Writes decrypt_pillar.json: the option decrypt_pillar in many forms, and Salt's pillar and errors for each. See README.md."""

import copy
import json
import logging
import pathlib
import tempfile

import salt.config
import salt.pillar

logging.disable(logging.CRITICAL)
HERE = pathlib.Path(__file__).parent
PILLAR = {'a':'{"x": 1}','n':{'k':'[1, 2]','m':{'z':'"t"'}},'l':['{"y": 2}'],'i':5,'bad':'{','e':'', 'none':None,'d':{'p':'{}'}, 't':True, 'x/y':{'q':'"s"'}}
CASES = [
 {'decrypt_pillar':['a']},{'decrypt_pillar':[{'a':'json'}]},{'decrypt_pillar':{'a':'json','n:k':'json'}},{'decrypt_pillar':{'a':None}},{'decrypt_pillar':{'a':''}},
 {'decrypt_pillar':'a'},{'decrypt_pillar':['a','n:k']},{'decrypt_pillar':[{'n:m':'json'}]},{'decrypt_pillar':[{'l':'json'}]},{'decrypt_pillar':[{'l:0':'json'}]},{'decrypt_pillar':[{'i':'json'}]},
 {'decrypt_pillar':[{'bad':'json'}]},{'decrypt_pillar':[{'e':'json'}]},{'decrypt_pillar':[{'none':'json'}]},{'decrypt_pillar':[{'a':'toml'}]},{'decrypt_pillar':[{'a':'nope'}]},{'decrypt_pillar':[{'nope':'json'}]},
 {'decrypt_pillar':[{'a:b:c':'json'}]},{'decrypt_pillar':[{'n/k':'json'}],'decrypt_pillar_delimiter':'/'},{'decrypt_pillar':[{'n:k':'json'}],'decrypt_pillar_delimiter':'/'},{'decrypt_pillar':['a'],'decrypt_pillar_default':'json'},
 {'decrypt_pillar':[{'n|m|z':'json'}],'decrypt_pillar_delimiter':'|'},{'decrypt_pillar':[{'x/y:q':'json'}]},{'decrypt_pillar':5},{'decrypt_pillar':[['a']]},{'decrypt_pillar':[{'a':'json','n:k':'json'}]},{'decrypt_pillar':[{'d':'json'}]},{'decrypt_pillar':[{'t':'json'}]},{'decrypt_pillar':[{'a':'json'},'i']},{'decrypt_pillar':[]},{'decrypt_pillar':[{'a':'json'},{'a':'json'}]},
]


def answer(case, opts):
    pillar = salt.pillar.Pillar({**opts, "decrypt_pillar_renderers": ["gpg", "json", "yaml"], "decrypt_pillar_default": "yaml", **case}, {}, "m", "base")
    value = copy.deepcopy(PILLAR)
    errors = pillar.decrypt_pillar(value)
    return {"opts": case, "pillar": value, "errors": errors}


with tempfile.TemporaryDirectory() as root:
    config = pathlib.Path(root, "minion")
    config.write_text(f"root_dir: {root}\nid: m\nfile_client: local\n")
    opts = {**salt.config.minion_config(str(config)), "grains": {}}
    lines = ",\n".join(json.dumps(answer(case, opts)) for case in CASES)
HERE.joinpath("decrypt_pillar.json").write_text('{"pillar": ' + json.dumps(PILLAR) + ',\n"cases": [\n' + lines + "\n]}\n")
