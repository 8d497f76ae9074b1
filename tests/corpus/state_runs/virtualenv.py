"""The cases of `virtualenv`: read by make_state_runs.py. The program that makes environments is a script, which puts a pip and a Python there."""
TWICE = ("test", "run")
PIP = """#!/bin/sh
here=${0%/v/bin/pip}
case "$*" in
--version) echo "pip $(cat $here/version) from /usr/lib/python3/dist-packages/pip (python 3.11)";;
freeze*) cat $here/freeze;;
install*) echo "$*" | sed "s,$here,R,g; s,/tmp/[^ ]*,TMP,g" >> $here/calls; test -e $here/next && cp $here/next $here/freeze; echo said; echo oops >&2; exit $(cat $here/code);;
esac
"""
VENV = """#!/bin/sh
here=${0%/bin/virtualenv}
case "$*" in --version) echo "virtualenv 20.25.1 from /x"; exit;; esac
echo "$*" | sed "s,$here,R,g" >> $here/calls
test -e $here/broken && { echo broken; echo worse >&2; exit 3; }
mkdir -p $here/v/bin; cp $here/pip.sh $here/v/bin/pip; chmod 755 $here/v/bin/pip; printf '#!/bin/sh\\necho Python 3.11.9 >&2\\n' > $here/v/bin/python; chmod 755 $here/v/bin/python
"""


def venv(steps=("test", "run", "run"), tree=None, **args):
    files = {"bin": {"dir": {"virtualenv": {"text": VENV, "mode": "0755"}}}, "pip.sh": PIP, "version": "23.0.1", "freeze": "a==1\nb==2\n", "code": "0\n", "srv": {"dir": {"req.txt": "c\n"}}, "req.txt": "c\n"}
    case("virtualenv.managed", {"name": f"{R}/v", "venv_bin": f"{R}/bin/virtualenv", **args}, tree={**files, **(tree or {})}, steps=steps, drop=["pid"])


venv(), venv(system_site_packages=True, python="/usr/bin/python3", prompt="p"), venv(clear=True), venv(tree={"broken": ""}, steps=TWICE)
venv(pip_pkgs=["c", "d"]), venv(pip_pkgs="c", tree={"next": "a==1\nc==3\n"}), venv(pip_pkgs=["c"], tree={"code": "1\n"}, steps=TWICE), venv(requirements=f"{R}/req.txt", tree={"next": "a==1\nb==2\nc==3\n"}), venv(requirements="salt://none.txt", steps=TWICE), venv(use_wheel=True, steps=TWICE), venv(no_binary="x", pip_pkgs=["c"], steps=TWICE), venv(no_binary="x", tree={"version": "6.0"}, steps=TWICE)
venv(pip_pkgs=["c"], pip_upgrade=True, index_url="https://example.com/s", no_deps=True, pre_releases=True, steps=TWICE)
