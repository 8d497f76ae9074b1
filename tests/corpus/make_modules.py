#!/usr/bin/env python3
"""Writes modules.json: results of Salt 3008.3's execution modules for selected calls, with fixed grains, pillar and
options. Run it with the Python of an environment that has Salt: `python make_modules.py > modules.json`. A map whose
keys are not all strings is written as {"__pairs__": [[key, value], ...]}."""
import copy
import json
import logging
import os
import tempfile

import salt.config
import salt.loader

logging.disable(logging.CRITICAL)
root = tempfile.mkdtemp()
os.makedirs(f"{root}/etc/salt")
with open(f"{root}/etc/salt/minion", "w") as fp:
    fp.write(f"root_dir: {root}\nid: web1\nfile_client: local\n")
opts = salt.config.minion_config(f"{root}/etc/salt/minion")
opts['id'] = 'web1'
grains = {"id":"web1","os":"Debian","osmajorrelease":12,"systemd":{"version":"252"},"ipv4":["127.0.0.1","192.0.2.2"],
 "roles":["web",{"db":{"port":5432}},{8080:"http"}],"deep":{"a:b":"colon","22":"text",33:"int",1.5:"float"},"fqdn":"web1.example.com","host":"web1","domain":"example.com","serialnumber":"0123456789","nodename":"web1","localhost":"web1","nothing":None,"empty":"", "shared":{"from":"grains","only_grains":1}, "dotted.name":"g"}
pillar = {"master":{"shared":{"from":"master","only_master":1},"host.list":"m","interface":"0.0.0.0"},"shared":{"from":"pillar","nested":{"p":1}},"plist":[1,2],"host.port":"p","secret":"s"}
extra = {"shared":{"from":"opts","nested":{"o":2}},"plist":[0],"my_option":{"list":["x",{"k":"v"}],"n":1.0},"host.name":"o"}
opts['grains']=grains; opts['pillar']=pillar; opts.update(extra)
mods = salt.loader.minion_mods(opts)
C=[]
def c(fun,*a,**k): C.append((fun,list(a),k))
for key in ["os","systemd:version","systemd:nope","nope","roles:0","roles:db:port","roles:8080","roles:9","roles:-1","deep:a:b","deep:22","deep:33","deep:1.5","nothing","nothing:x","empty","ipv4:1","ipv4","os:x"]:
    c("grains.get",key); c("grains.has_value",key)
c("grains.get","nope",default="d"); c("grains.get","nope",default=None); c("grains.get","deep|a:b",delimiter="|");
c("grains.equals","os","Debian"); c("grains.equals","osmajorrelease",12); c("grains.equals","osmajorrelease","12"); c("grains.equals","systemd:version",252); c("grains.equals","nope",""); c("grains.equals","ipv4","['127.0.0.1', '192.0.2.2']")
c("grains.item","os","nope","systemd:version"); c("grains.item","host","serialnumber","fqdn",sanitize=True); c("grains.item","nope",default=0); c("grains.item","deep|a:b",delimiter="|"); c("grains.item")
c("grains.items"); c("grains.items",sanitize=True); c("grains.ls")
for key in ["shared:from","shared:nested","my_option:list:k","my_option:list:0","my_option:n","id","os","secret","interface","nope","test.foo","shared:only_master","systemd:version"]:
    c("config.get",key)
c("config.get","nope",default=[1]); c("config.get","shared:from",omit_opts=True); c("config.get","shared:from",omit_opts=True,omit_grains=True); c("config.get","shared:from",omit_opts=True,omit_grains=True,omit_pillar=True); c("config.get","nope",omit_opts=True,omit_grains=True,omit_pillar=True,omit_master=True)
c("config.get","shared",merge="recurse"); c("config.get","shared",merge="overwrite"); c("config.get","my_option|n",delimiter="|")
c("config.option","my_option"); c("config.option","nope"); c("config.option","nope",default="d"); c("config.option","secret"); c("config.option","interface"); c("config.option","test.foo"); c("config.option","my_option",omit_all=True); c("config.option","shared",omit_opts=True)
c("config.option","sh*d",wildcard=True); c("config.option","zzz*",wildcard=True); c("config.option","test.f*",omit_all=True,wildcard=True)
c("config.merge","shared"); c("config.merge","plist"); c("config.merge","nope"); c("config.merge","secret")
c("config.dot_vals","host")
for u in ["salt://a","http://x","https://x","ftp://x","file:///x","s3://x","swift://x","rsync://x","/path","", "HTTP://x"]: c("config.valid_fileproto",u)
for m in ["644","0644",644,"0o755","'755'",None,"7",0,"01777"]: c("config.manage_mode",m)
c("config.backup_mode"); c("config.backup_mode",backup="minion")
c("match.glob","web*"); c("match.glob","db*"); c("match.glob","db*",minion_id="db1"); c("match.pcre","web\\d"); c("match.pcre","eb"); c("match.pcre","we"); c("match.pcre","("); c("match.list","web1,db1"); c("match.list",["web1"]); c("match.list","web"); c("match.list","web1"); c("match.list","db1,db2",minion_id="db2")
c("test.ping"); c("test.true"); c("test.false"); c("test.echo","x"); c("test.echo",1.0); c("test.outputter",{"a":[1]}); c("test.arg",1,"two",3.1,txt="hello",wow={"a":1}); c("test.arg"); c("test.arg_repr",1,"it's",2.0,None,True,k=[1,{"a":b"x".decode()}]); c("test.arg_repr"); c("test.arg_repr","a"); c("test.arg_type",1,"a",2.5,[1],{"a":1},None,True,k=1.0); c("test.kwarg",num=1,txt="two"); c("test.arg_clean",1,__pub_jid="x",y=2)
c("test.conf_test"); c("test.tty","tty0","x"); c("test.cross_test","test.echo",["x"]); c("test.provider","test"); c("test.provider","zzz"); c("test.try","test.echo",text="x"); c("test.try","test.exception"); c("test.try","zzz.zzz"); c("test.try","test.exception",return_try_exception=True,message="boo")
c("test.raise_exception","NoSuchThing"); c("test.raise_exception","print"); c("test.assertion",True); c("test.retcode",3); c("test.deprecation_warning")
c("sys.argspec","test.fib"); c("sys.argspec","test.arg"); c("sys.argspec","test.random_hash"); c("sys.argspec","test.try"); c("sys.argspec","config.get"); c("sys.argspec","grains.get"); c("sys.argspec","config.option"); c("sys.argspec","event.send"); c("sys.argspec","key.finger"); c("sys.argspec","match.glob"); c("sys.argspec","test.raise_exception"); c("sys.argspec","config.merge"); c("sys.argspec","event.fire_master"); c("sys.argspec","zzz")
for f in "attr_call module_report echo ping sleep rand_sleep version versions_information versions_report versions conf_test get_opts cross_test kwarg arg arg_type arg_repr arg_clean fib collatz outputter retcode provider providers not_loaded opts_pkg rand_str random_hash exception stack tty try assertion true false raise_exception deprecation_warning".split(): c("sys.argspec","test."+f)
for f in ["list_functions","list_modules","doc","argspec","reload_modules"]: c("sys.argspec","sys."+f)
for f in ["get","fetch","has_value","equals","items","item","ls"]: c("sys.argspec","grains."+f)
c("sys.list_functions","grains.item*"); c("sys.list_functions","key"); c("sys.list_functions","key.finger"); c("sys.list_modules","key","nope"); c("sys.list_modules","key.*")

DATA = [{"key": "value"}, {"web1": {"a": [1, "x y", None], "b": {"c": True, "d": 1.5}}}, ["one", "two lines\nhere"], "text <b> & \n  more", 5, None, [], {}]
TABLE = {"web1": {"rows": [{"name": "a", "size": 1}, {"name": "bb", "size": 22}], "labels": ["N", "S"]}}
RUN = {"local": {"test_|-a_|-a_|-succeed_without_changes": {"name": "a", "result": True, "comment": "Success!", "changes": {}, "__run_num__": 0, "start_time": "10:00:00.000000", "duration": 1.5, "__id__": "a", "__sls__": "x"}, "file_|-b_|-/b_|-managed": {"name": "/b", "result": False, "comment": "Failed <here>", "changes": {"diff": "-x\n+y"}, "__run_num__": 1, "start_time": "10:00:00.000000", "duration": 2.25, "__id__": "b", "__sls__": "x"}}}
for data in DATA:
    for out in ["nested", "json", "yaml", "raw", "txt", "pprint", "highstate"]:
        if out != "highstate" or isinstance(data, dict) and "web1" not in data and not data:
            c("out.string_format", data, out=out)
    c("out.out_format", data)
c("out.html_format", {"a": ["x", "y z"]}); c("out.html_format", {"a": {"b": 1}}, out="yaml"); c("out.html_format", TABLE, out="table")
for kw in [{}, {"rows_key": "rows"}, {"rows_key": "rows", "labels_key": "labels"}, {"rows_key": "rows", "title": "Title"}, {"delim": " ! ", "prefix": "<", "suffix": ">", "row_delimiter": "="}, {"width": 3}, {"justify": "left"}, {"nested_indent": 4}, {"separate_rows": False}, {"opts": {"out.table.separate_rows": False, "out.table.has_header": False}}]:
    c("out.string_format", TABLE["web1"]["rows"] if "rows_key" not in kw else TABLE["web1"], out="table", **kw)
c("out.string_format", {"a": {"b": 1}}, nested_indent=3); c("out.string_format", {"a": 1}, out="none such"); c("out.string_format", {"a": 1}, out=""); c("out.string_format", {"a": 1}, out="text")
c("out.string_format", RUN, out="highstate"); c("out.string_format", {"local": {k: v for k, v in RUN["local"].items() if v["result"]}}, out="highstate", opts={"state_output": "terse", "state_verbose": True}); c("out.string_format", RUN, out="highstate", opts={"state_verbose": False, "state_output": "mixed"})
for opts_ in [{"output": "json"}, {"output": "highstate"}, {"output_indent": 1, "output": "json"}, {"output_indent": 1, "output": "yaml"}, {"color": True}, {"color": True, "no_color": True}, {"force_color": True}, {"force_color": True, "no_color": True}]:
    c("out.out_format", {"a": {"b": [1, "x"]}}, opts=opts_); c("out.string_format", {"a": {"b": [1, "x"]}}, opts=opts_)
c("out.out_format", {"a": 1}, opts={"color": True}, _retcode=2); c("out.out_format", {"a": 1}, out="txt", opts={"color": True})


def plain(x):
    if isinstance(x, Exception):
        return str(x)
    if hasattr(x, "items"):
        if all(isinstance(k, str) for k in x):
            return {k: plain(v) for k, v in x.items()}
        return {"__pairs__": [[k, plain(v)] for k, v in x.items()]}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return x


cases = [{"fun": fun, "args": a, "kwargs": k, "return": plain(mods[fun](*copy.deepcopy(a), **copy.deepcopy(k)))} for fun, a, k in C]
print("{")
for name, value in (("grains", grains), ("pillar", pillar), ("opts", extra)):
    print(f" {json.dumps(name)}: {json.dumps(plain(value))},")
print(' "cases": [')
print(",\n".join("  " + json.dumps(case) for case in cases))
print(" ]\n}")
