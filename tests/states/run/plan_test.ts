/**
 * `state.plan` and `state.apply plan=`: the plan is applied, or the differences are reported; a plan changes nothing.
 * @module
 */

import { encode } from "#lib/values/msgpack.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { openTree, refusal, type StateTree } from "#tests/support/calls/state_tree.ts";

const FILES = {
  "t.sls": `
one:
  file.managed:
    - name: {{ opts.root_dir }}/host/one
    - makedirs: True
    - source: salt://one.txt
two:
  file.append:
    - name: {{ opts.root_dir }}/host/two
    - makedirs: True
    - text: {{ pillar.text }}
    - require: [{file: one}]
three:
  test.succeed_with_changes:
    - onchanges: [{file: two}]
`,
  "one.txt": "first\n",
};

/** The hash of a plan. */
function hashIn(returned: Value): string {
  return isMap(returned) ? String(returned.get("plan")) : "";
}

/** Every file below a directory with its content. */
async function contents(directory: string, found: Record<string, string> = {}): Promise<Record<string, string>> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const path = `${directory}/${name}`;
    const { mtime, mode } = await Deno.lstat(path);
    if (isDirectory) await contents(path, found);
    else found[path] = `${mtime?.getTime()} ${mode} ${await Deno.readTextFile(path)}`;
  }
  return found;
}

async function planned(tree: StateTree): Promise<string> {
  const { returned } = await tree.call("state.plan", ["t"]);
  const hash = hashIn(returned);
  assert(/^[0-9a-f]{32}$/.test(hash), `no plan in ${JSON.stringify([...isMap(returned) ? returned.keys() : []])}`);
  return hash;
}

Deno.test("a plan changes nothing on the host, and is applied", async () => {
  await using tree = await openTree({ files: FILES, pillar: { text: "hello" } });
  await Deno.mkdir(`${tree.root}/host`);
  await Deno.writeTextFile(`${tree.root}/host/two`, "before\n");
  const before = await contents(`${tree.root}/host`);
  const hash = await planned(tree);
  assertEquals(await planned(tree), hash);
  assertEquals(await contents(`${tree.root}/host`), before);
  const { retcode } = await tree.call("state.apply", [], { plan: hash });
  assertEquals(retcode, 0);
  assertEquals(await Deno.readTextFile(`${tree.root}/host/one`), "first\n");
  assertEquals(await Deno.readTextFile(`${tree.root}/host/two`), "before\nhello\n");
});

const MOVES: readonly (readonly [what: string, expected: RegExp, (root: string) => Promise<void>])[] = [
  [
    "a file of the file server",
    /^files of the file server: salt:\/\/one\.txt has changed$/m,
    (root) => Deno.writeTextFile(`${root}/srv/one.txt`, "other\n"),
  ],
  [
    "the host",
    /^what is found on the host: file\.append of two has changed$/m,
    (root) => Deno.writeTextFile(`${root}/host/two`, "hello\n"),
  ],
  [
    "an SLS file",
    /^states: test\.nop of four is new$/m,
    (root) => Deno.writeTextFile(`${root}/srv/t.sls`, `${FILES["t.sls"]}four: test.nop\n`),
  ],
];

for (const [what, expected, move] of MOVES) {
  Deno.test(`a plan is not applied if ${what} has changed`, async () => {
    await using tree = await openTree({ files: FILES, pillar: { text: "hello" } });
    await Deno.mkdir(`${tree.root}/host`);
    await Deno.writeTextFile(`${tree.root}/host/two`, "before\n");
    const hash = await planned(tree);
    await move(tree.root);
    const before = await contents(`${tree.root}/host`);
    const { returned, retcode } = await tree.call("state.apply", [], { plan: hash });
    const text = Array.isArray(returned) ? returned.join("\n") : "";
    assert(expected.test(text), text);
    assertEquals(retcode, 1);
    assertEquals(await contents(`${tree.root}/host`), before);
  });
}

Deno.test("a plan shows what will be in new files, unless not everybody may read them or they are binary", async () => {
  const managed = (id: string, more: string) =>
    `${id}:\n  file.managed:\n    - name: {{ opts.root_dir }}/host/${id}\n    - makedirs: True\n${more}`;
  const files = {
    "t.sls": [
      managed("open", "    - contents: hello\n    - mode: '0644'\n"),
      managed("empty", "    - contents: ''\n"),
      managed("few", "    - contents: secret\n    - mode: '0640'\n"),
      managed("pillared", "    - contents_pillar: text\n"),
      managed("quiet", "    - contents: secret\n    - show_changes: False\n"),
      managed("binary", "    - source: salt://b\n"),
    ].join(""),
    "b": "\0\u0001\0",
  };
  await using tree = await openTree({ files, pillar: { text: "secret" } });
  const changesOf = async (fun: string, kwargs = {}) => {
    const { returned } = await tree.call(fun, ["t"], kwargs);
    assert(isMap(returned));
    return Object.fromEntries(
      [...returned.values()].filter(isMap).map((result) => {
        const changes = result.get("changes");
        return [String(result.get("__id__")), isMap(changes) ? String(changes.get("diff") ?? "no diff") : "no changes"];
      }),
    );
  };
  assertEquals(await changesOf("state.plan"), {
    open: "--- \n+++ \n@@ -0,0 +1 @@\n+hello\n",
    empty: "no diff",
    few: "no diff",
    pillared: "no diff",
    quiet: "<show_changes=False>",
    binary: "Replace text file with binary file",
  });
  // As Salt's test mode, which has only the name of a new file.
  assertEquals(new Set(Object.values(await changesOf("state.apply", { test: true }))), new Set(["no diff"]));
});

Deno.test("a refused plan says what it has shown and what is found now", async () => {
  const name = "{{ opts.root_dir }}/host/one";
  const sls = `one:\n  file.managed:\n    - name: ${name}\n    - contents: new\n    - makedirs: True\n`;
  await using tree = await openTree({ files: { "t.sls": sls } });
  await Deno.mkdir(`${tree.root}/host`);
  await Deno.writeTextFile(`${tree.root}/host/one`, "before\n");
  const hash = await planned(tree);
  await Deno.writeTextFile(`${tree.root}/host/one`, "by hand\n");
  const { returned } = await tree.call("state.apply", [], { plan: hash });
  const text = Array.isArray(returned) ? returned.join("\n") : "";
  assert(/changes in the plan:\n(.*\n)*.*-before\n/.test(text), text);
  assert(/changes now:\n(.*\n)*.*-by hand\n/.test(text), text);
});

Deno.test("an unknown plan is not applied", async () => {
  await using tree = await openTree({ files: FILES });
  const { returned, retcode } = await tree.call("state.apply", [], { plan: "../../etc/passwd" });
  assertEquals([returned, retcode], [[
    "There is no plan ../../etc/passwd on this minion: state.plan makes one, and each minion has its own",
  ], 1]);
});

const A = { "t.sls": "a:\n  test.succeed_with_changes: []\n", "top.sls": "base:\n  '*': [t]\n" };

const WRONG = { "t.sls": "a: [x]\n", "top.sls": "base:\n  '*': [t]\n" };

/** The file of a plan. */
async function planPath(cachedir: string, name: string): Promise<string> {
  const directories = [cachedir];
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    for await (const entry of Deno.readDir(at)) {
      if (entry.isDirectory) directories.push(`${at}/${entry.name}`);
      else if (entry.name === name) return `${at}/${entry.name}`;
    }
  }
  throw new Error(`no plan ${name}`);
}

Deno.test("a plan that is damaged is none, and files that are wrong make and apply none", async () => {
  await using tree = await openTree({ files: A });
  const { returned } = await tree.call("state.plan", ["t"]);
  assert(isMap(returned));
  const name = str(returned.get("plan") ?? "");
  const path = await planPath(tree.context.opts.cachedir, name);
  const good = await Deno.readFile(path);
  const apply = async () => refusal(await tree.call("state.apply", [], { plan: name }));
  for (const damaged of [encode(5, "disk"), encode(map({ kwargs: 5 }), "disk"), encode(map({ kwargs: {} }), "disk")]) {
    await Deno.writeFile(path, damaged);
    assertStringIncludes(await apply(), `There is no plan ${name} on this minion`);
  }
  await Deno.writeFile(path, good);
  await tree.write(WRONG);
  assertMatch(await apply(), /^1 ID a in SLS t is not a dictionary/);
  assertMatch(refusal(await tree.call("state.plan", ["t"])), /^1 ID a in SLS t is not a dictionary/);
});
