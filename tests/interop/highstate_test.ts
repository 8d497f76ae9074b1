/**
 * A highstate from a master of each implementation, applied by minions of both: in test mode nothing changes, then both
 * write the same files, and the second run changes nothing. Their returns are equal.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { snapshot } from "#tests/support/calls/call_cases.ts";
import { dumpJson } from "#lib/values/json.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";

for (const version of PYTHON_SALTS) {
  await testWithPython(
    version,
    "a highstate of our master leaves the same on a minion of {} as on ours",
    (python, t) => {
      return prove(t, OURS, python);
    },
  );
  await testWithPython(
    version,
    "a highstate of a master of {} leaves the same on its minion as on ours",
    (python, t) => {
      return prove(t, python, python);
    },
  );
}

/** The states that are applied, below `{{ opts.root_dir }}/applied` of each minion. */
const TREE: Readonly<Record<string, string>> = {
  "top.sls": "base:\n  '*':\n    - web\n  'nobody*':\n    - never\n",
  "web/init.sls": `{% from 'web/map.jinja' import names with context %}
{% set root = opts.root_dir ~ '/applied' %}
include:
  - .conf
{% for name in names %}
{{ root }}/names/{{ name }}:
  file.managed:
    - contents: {{ name }} {{ loop.index }}
    - makedirs: true
    - mode: '0640'
{% endfor %}
told:
  cmd.run:
    - name: echo told >> {{ root }}/told
    - onchanges:
      - file: conf
again:
  cmd.wait:
    - name: echo again >> {{ root }}/told
    - watch:
      - file: conf
link:
  file.symlink:
    - name: {{ root }}/link
    - target: conf/main.conf
    - require:
      - sls: web.conf
gone:
  file.absent:
    - name: {{ root }}/gone
called:
  module.run:
    - test.echo:
      - text: {{ pillar['secret'] }}
`,
  "web/map.jinja": "{% set names = ['ä', 'b c', pillar.get('who')] %}\n",
  "web/conf.sls": `{% set root = opts.root_dir ~ '/applied' %}
conf:
  file.managed:
    - name: {{ root }}/conf/main.conf
    - source: salt://web/files/main.conf
    - template: jinja
    - makedirs: true
    - context:
        port: 8080
lines:
  file.append:
    - name: {{ root }}/lines
    - text:
      - one
      - two
kept:
  file.managed:
    - name: {{ root }}/kept
    - contents: key=0
    - replace: false
edited:
  file.replace:
    - name: {{ root }}/kept
    - pattern: ^key=.*
    - repl: key=1
    - backup: false
    - ignore_if_missing: true
`,
  "web/files/main.conf": "port {{ port }} of {{ grains['kernel'] }} for {{ pillar['who'] }}\n",
};

const PILLAR: Readonly<Record<string, string>> = {
  "top.sls": "base:\n  '*':\n    - p\n",
  "p.sls": "who: operator\nsecret: hush\n",
};

/** One minion of each implementation. */
const OWN = "own1", PY = "py1";

async function prove(t: Deno.TestContext, master: Salt, python: Salt): Promise<void> {
  await using site = new Site();
  const step = (name: string, prove: () => Promise<void>) => t.step(name, () => site.explain(prove));
  for (const [folder, files] of [["srv", TREE], ["pillar", PILLAR]] as const) write(`${site.root}/${folder}`, files);
  const met = await step("both minions are connected", async () => {
    await site.startMaster(master);
    site.startMinion(OURS, OWN);
    site.startMinion(python, PY);
    for (const id of [OWN, PY]) await site.keyComes(id, "minions_pre");
    await site.acceptAll();
    for (const id of [OWN, PY]) await site.answers(id);
  });
  if (!met) return;
  await step("in test mode nothing changes, and both report the same changes", async () => {
    const run = await highstate(site, "test=True");
    assertEquals(run[OWN], run[PY]);
    assert(Object.values(run[OWN]).some(({ result }) => result === null));
    for (const id of [OWN, PY]) {
      assert(!lexistsOrThrow(`${site.minionRoot(id)}/applied`), `${id} has changed something`);
    }
  });
  await step("both write the same files", async () => {
    const run = await highstate(site);
    assertEquals(run[OWN], run[PY]);
    for (const [tag, { result }] of Object.entries(run[OWN])) assertEquals(result, true, tag);
    const [own, py] = [OWN, PY].map((id) => hash(`${site.minionRoot(id)}/applied`));
    assertEquals(await own, await py);
  });
  await step("the second run changes nothing on either minion", async () => {
    const run = await highstate(site);
    assertEquals(run[OWN], run[PY]);
    const changed = Object.entries(run[OWN]).filter(([tag, { changes }]) => {
      return !tag.startsWith("module_") && Object.keys(changes).length > 0;
    });
    assertEquals(changed, []);
  });
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    Deno.mkdirSync(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${folder}/${name}`, text);
  }
}

/** The compared fields of a state's return. */
interface Shown {
  readonly result: unknown;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly comment: string;
}

/**
 * Runs a highstate on both.
 * @returns Each minion's results, without its own directory.
 */
async function highstate(site: Site, ...args: string[]): Promise<Record<string, Record<string, Shown>>> {
  const returns = await site.salt(["*", "state.apply", ...args]);
  return Object.fromEntries([OWN, PY].map((id) => {
    const text = JSON.stringify(returns[id]).replaceAll(site.minionRoot(id), "@root");
    const run: Record<
      string,
      { result: unknown; changes: Record<string, unknown>; comment: string; __run_num__: number }
    > = JSON.parse(text);
    const states = Object.entries(run).map(([tag, { result, changes, comment }]): [string, Shown] => {
      const { pid: _pid, ...same } = changes;
      return [tag, { result, changes: same, comment }];
    });
    return [id, Object.fromEntries(states)];
  }));
}

/** The hash of the names, kinds, modes and contents of all files in `directory`. */
async function hash(directory: string): Promise<string> {
  const bytes = new TextEncoder().encode(dumpJson(snapshot(directory)));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
