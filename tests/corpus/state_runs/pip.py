"""The cases of `pip`: read by make_state_runs.py. pip is a script that answers from files, and records the packages that it installs."""
TWICE = ("test", "run")
PIP = """#!/bin/sh
here=${0%/bin/pip}
case "$*" in
--version) echo "pip $(cat $here/version) from /usr/lib/python3/dist-packages/pip (python 3.11)";;
*--outdated*) cat $here/outdated;;
*list*) cat $here/list;;
*freeze*) cat $here/freeze;;
*index*|*install*==nonsense*|*'install foo=='*) cat $here/versions; exit 1;;
*uninstall*) echo "$*" | sed "s,$here,R,g" >> $here/calls; exit $(cat $here/code);;
*install*) echo "$*" | sed "s,$here,R,g" >> $here/calls; test -e $here/next && cp $here/next $here/list; cat $here/said; echo oops >&2; exit $(cat $here/code);;
esac
"""
LIST = '[{"name": "Jinja2", "version": "3.1.2"}, {"name": "zope.interface", "version": "5.0"}, {"name": "early", "version": "2.0rc1"}]'
NEXT = LIST[:-1] + ', {"name": "new", "version": "1.5"}, {"name": "Other_One", "version": "2"}]'


def pip(fun, name, steps=TWICE, tree=None, **args):
    files = {"bin": {"dir": {"pip": {"text": PIP, "mode": "0755"}}}, "version": "23.0.1", "list": LIST, "next": NEXT, "said": "Successfully installed new-1.5\n", "code": "0\n", "outdated": "[]", "freeze": "Jinja2==3.1.2\n", "versions": ""}
    case(f"pip.{fun}", {"name": name, "bin_env": f"{R}/bin/pip", **args}, tree={**files, **(tree or {})}, steps=steps)


FAILS = {"code": "1\n", "said": "no luck\n"}
for name in ["jinja2", "Jinja2", "jinja2==3.1.2", "jinja2>=3", "jinja2>=3,<4", "jinja2<3", "jinja2==3.1.*", "jinja2~=3.1", "jinja2~=3.0.1", "jinja2!=3.1.2", "jinja2[i18n]>=2", "zope-interface", "early", "early>=1", "early>=2.0rc1", "jinja2=3", "jinja2 >= 3 , < 4", "new; python_version > '3'"]:
    pip("installed", name)
pip("installed", "new", steps=("test", "run", "run")), pip("installed", "new==1.5", steps=("test", "run", "run")), pip("installed", "new", tree=FAILS), pip("installed", "https://example.com/new.tar.gz"), pip("installed", "git+https://example.com/new.git#egg=new"), pip("installed", "git+https://example.com/new.git"), pip("installed", "new @ https://example.com/new.zip")
pip("installed", "x", pkgs=["jinja2", "new", "other-one>=1,<3"], steps=("test", "run", "run")), pip("installed", "x", pkgs=["jinja2", "zope.interface"]), pip("installed", "x", pkgs="jinja2"), pip("installed", "x", pkgs=["jinja2", "new"], tree=FAILS), pip("installed", "x", pkgs=["a=1", "b=2"]), pip("installed", "x", pkgs=[])
pip("installed", "jinja2", force_reinstall=True), pip("installed", "jinja2", ignore_installed=True), pip("installed", "new", tree={"next": LIST}), pip("installed", "new", user="nosuch_user"), pip("installed", "new", use_wheel=True), pip("installed", "new", no_use_wheel=True), pip("installed", "new", no_binary="all"), pip("installed", "new", no_binary="all", tree={"version": "6.0"})
pip("installed", "new", index_url="https://example.com/simple", no_deps=True, extra_args=["--one", {"--two": "2"}], trusted_host="h", pre_releases=True), pip("installed", "new", tree={"said": "Requirement already satisfied: new in /x\n"})
for said in ["Successfully installed new-1.5\n", "Requirement already satisfied: new in /x\nCollecting x\n"]:
    pip("installed", "x", requirements=f"{R}/req.txt", tree={"req.txt": "new\n", "said": said})
pip("installed", "x", requirements=f"{R}/req.txt", tree={"req.txt": "new\n", **FAILS}), pip("installed", "x", requirements=f"{R}/none.txt"), pip("installed", "x", editable="git+https://example.com/new.git#egg=new"), pip("installed", "x", editable="git+https://example.com/new.git#egg=new", tree=FAILS)
pip("removed", "jinja2", steps=("test", "run")), pip("removed", "nosuch"), pip("removed", "zope-interface"), pip("removed", "jinja2", tree={"code": "1\n"})
pip("uptodate", "all"), pip("uptodate", "all", steps=("test",), tree={"outdated": '[{"name": "jinja2", "version": "3.1.2", "latest_version": "3.2", "latest_filetype": "wheel"}]'})
