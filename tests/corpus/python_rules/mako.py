"""The renderer `mako`, with the library Mako beside Salt."""

pillar({"port": 8080})
CALLS = []


def sls(name, text, line="#!mako|yaml"):
    """Writes an SLS file, and shows its high data."""
    file(name.replace(".", "/") + ".sls", line + "\n" + text)
    CALLS.append(("state.show_sls", name))


file("_modules/br.py", "def echo(x):\n    return x\ndef shout(x):\n    return x.upper()\n")
sls("plain", "a:\n  test.nop:\n    - name: ${ 1 + 1 }\n")
sls("loops", "% for n in range(3):\ns${n}:\n  test.nop: []\n% endfor\n<%\n  x = 5\n%>\nx${x}: test.nop\n")
sls("facts", "a:\n  test.nop:\n    - name: ${grains['own']} ${pillar['port']} ${opts['id']} ${saltenv} ${sls} ${salt['br.echo']('x')} ${salt.br.shout('y')}\n")
sls("deep.place", "a:\n  test.nop:\n    - name: ${slspath} ${sls_path} ${slsdotpath} ${slscolonpath} ${tpldir} ${tplfile} ${tpldot} ${tplpath.split('/')[-1]}\n")
sls("deep.init", "a:\n  test.nop:\n    - name: ${slspath} ${tpldir} ${tplfile} ${sls}\n")
sls("missing", "a:\n  test.nop:\n    - name: ${nothing}\n")
sls("raises", "a:\n  test.nop:\n    - name: ${1 / 0}\n")
sls("syntax", "% for x in\na: b\n% endfor\n")
sls("unended", "% for x in [1]:\na: b\n")
sls("expression", "a: ${ 1 + }\n")
sls("key", "a: ${pillar['absent']}\n")
sls("functions", "<%def name=\"one(x)\">${x}-${x}</%def>\na:\n  test.nop:\n    - name: ${one(2)}\n")
file("lib/macros.mako", "<%def name=\"twice(x)\">${x}${x}</%def>\n")
file("lib/part.mako", "included: test.nop\nsls_${sls}: test.nop\n")
file("lib/nested.mako", "<%include file=\"part.mako\"/>\n")
file("deep/beside.mako", "beside: test.nop\n")
sls("names", "<%namespace name=\"m\" file=\"salt://lib/macros.mako\"/>\na:\n  test.nop:\n    - name: ${m.twice('x')}\n")
sls("imports", "<%namespace file=\"/lib/macros.mako\" import=\"twice\"/>\na:\n  test.nop:\n    - name: ${twice('x')}\n")
sls("includes", "a: test.nop\n<%include file=\"salt://lib/part.mako\"/>\n")
sls("nests", "a: test.nop\n<%include file=\"salt://lib/nested.mako\"/>\n")
sls("deep.relative", "a: test.nop\n<%include file=\"beside.mako\"/>\n")
sls("absent", "<%include file=\"salt://lib/absent.mako\"/>\n")
sls("scheme", "<%include file=\"http://localhost/x\"/>\n")
sls("comment", "## a comment\n<%doc>more</%doc>\na:\n  test.nop:\n    - name: \"${'<b>' | h}\"\n")
sls("text", "a: test.nop\n", line="#!mako")
sls("conf", ".p:\n  stateconf.set:\n    - port: 80\n# --- end of state config ---\n.a:\n  test.nop:\n    - name: ${p.port} ${p['port']} ${sls_dir}\n", line="#!stateconf -o yaml . mako")
sls("json", '{"a": {"test.nop": [{"name": "${1 + 1}"}]}}\n', line="#!mako|json")
sls("named", "a:\n  test.nop:\n    - name: ${1 + 1}\n", line="#!yaml_mako")
sls("pipes", "a:\n  test.nop:\n    - name: {{ 1 + 1 }} ${2 + 2}\n", line="#!jinja|mako|yaml")
sls("unicode", "é:\n  test.nop:\n    - name: ${'日本'}\n")
for one in CALLS:
    call(*one)
call("slsutil.renderer", "salt://plain.sls")
call("slsutil.renderer", "string='#!mako|yaml'")
