/**
 * `state.show_*` and `state.lint` on a tree of files, without a master: from the file server over templates to the
 * output.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import type { PillarQuery } from "#lib/plugins/job_context.ts";
import { openHighState } from "#lib/states/tree/high_state.ts";
import { withMasterOpts } from "#lib/states/tree/settings.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { openTree, refusal } from "#tests/support/calls/state_tree.ts";

const TREE: Readonly<Record<string, string>> = {
  "top.sls": "base:\n  '*':\n    - web\n  'db*':\n    - db\n",
  "web/init.sls": `{% set who = pillar.get('who', 'nobody') %}
include:
  - .tls
web:
  pkg.installed:
    - name: {{ who }}-{{ grains['os'] }}
  service.running:
    - watch:
      - file: tls
`,
  "web/tls.sls": "tls:\n  file.managed:\n    - name: /etc/tls\n    - require_in:\n      - pkg: web\n",
  "broken.sls": "{% if nothing %}\n{{ nope }}\nx: {{ 1 }}\n",
  "alone.sls": "a:\n  test.nop:\n    - require:\n      - pkg: wbe\n",
};

/** A call on the tree. `more` adds or replaces files. */
async function call(
  fun: string,
  { args = [], kwargs = {}, more = {}, opts = {}, pillar = {}, logged = [] }: {
    args?: Value[];
    kwargs?: Record<string, unknown>;
    more?: Record<string, string>;
    opts?: Record<string, Value>;
    /** In memory. */
    pillar?: Record<string, unknown>;
    /** Receives what is logged. */
    logged?: string[];
  } = {},
): Promise<{ shown: Value; retcode: number; errorDetails?: readonly string[] }> {
  const root = await Deno.makeTempDir({ prefix: "show_" });
  try {
    for (const [path, text] of Object.entries({ ...TREE, ...more })) {
      await Deno.mkdir(`${root}/srv/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${root}/srv/${path}`, text);
    }
    const grains = map({ id: "web1", os: "Debian", os_family: "Debian", kernel: "Linux" });
    const context = testContext({
      opts: testOpts({ root_dir: root, file_client: "local", file_roots: map({ base: [`${root}/srv`] }), ...opts }),
      grains,
      pillar: map(pillar),
      catalogue: loadCatalogue({ grains: () => grains }),
      outside: { ...testContext().outside, pillar: (query) => Promise.resolve(compiled(query)) },
      log: (level, message) => void logged.push(`${level}: ${message}`),
    });
    const given = Object.keys(kwargs).length === 0 ? [] : [map({ __kwarg__: true, ...kwargs })];
    const { return: shown, retcode, errorDetails } = await run(fun, [...args, ...given], context);
    return { shown, retcode, ...errorDetails !== undefined && { errorDetails } };
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** Replaces the pillar compiler: `who` of the environment, and the pillar of the call. */
function compiled({ override, pillarenv }: PillarQuery): ValueMap {
  return new Map([...map({ who: pillarenv ?? "base" }), ...override ?? []]);
}

/** The IDs and states of low data, in its order. */
function order(low: Value): unknown {
  return (Array.isArray(low) ? low : []).map((chunk) =>
    isMap(chunk) ? `${chunk.get("state")} ${chunk.get("name")}` : chunk
  );
}

/** The first lines of the errors. */
function firstLines(errors: Value): string[] {
  return (Array.isArray(errors) ? errors : []).map((text) => String(text).split("\n")[0]);
}

Deno.test("state.show_low_sls renders, includes and orders", async () => {
  const { shown, retcode } = await call("state.show_low_sls", { args: ["web"], kwargs: { pillar: { who: "me" } } });
  assertEquals([order(shown), retcode], [["file /etc/tls", "pkg me-Debian", "service web"], 0]);
});

Deno.test("state.show_lowstate applies require_in; show_low_sls only shows it", async () => {
  const requires = (low: Value) =>
    (Array.isArray(low) ? low : []).filter((chunk) =>
      isMap(chunk) && chunk.get("state") === "pkg" && chunk.has("require")
    )
      .length;
  assertEquals(requires((await call("state.show_lowstate")).shown), 1);
  assertEquals(requires((await call("state.show_low_sls", { args: ["web"] })).shown), 0);
});

Deno.test("the functions of the top file show the states of this minion", async () => {
  assertEquals((await call("state.show_top")).shown, map({ base: ["web"] }));
  assertEquals((await call("state.show_states")).shown, ["web.tls", "web"]);
  const { shown } = await call("state.show_state_usage");
  const base = isMap(shown) ? shown.get("base") : undefined;
  assertEquals(isMap(base) ? base.get("used") : undefined, ["web"]);
  assertEquals(isMap(base) ? base.get("unused") : undefined, ["alone", "broken", "top", "web.tls"]);
});

Deno.test("errors are lists of Salt's messages, with file positions beside them, and set the return code", async () => {
  const { shown, retcode, errorDetails } = await call("state.show_low_sls", { args: ["alone"] });
  assertEquals([shown, retcode], [[
    "Referenced state does not exist for requisite [require: (pkg: wbe)] in state [a] in SLS [alone]",
  ], 1]);
  assertEquals(errorDetails, [
    "alone.sls:4:9\n---\n  test.nop:\n    - require:\n      - pkg: wbe    <======================\n\n---",
  ]);
  const broken = await call("state.show_sls", { args: ["broken"] });
  assertEquals(broken.retcode, 1);
  assertEquals(firstLines(broken.shown)[0].startsWith("Rendering SLS 'base:broken' failed: Jinja"), true);
  const missing = await call("state.show_sls", { args: ["wbe"] });
  assertEquals(missing.shown, ["No matching sls found for 'wbe' in env 'base'"]);
  assertEquals(missing.errorDetails, ["Did you mean 'web'?"]);
});

Deno.test("state.sls_exists and state.id_exists", async () => {
  assertEquals((await call("state.sls_exists", { args: ["web"] })).shown, true);
  assertEquals((await call("state.sls_exists", { args: ["nothere"] })).shown, false);
  assertEquals((await call("state.id_exists", { args: ["web,tls", "web"] })).shown, true);
  assertEquals((await call("state.id_exists", { args: ["web,db", "web"] })).shown, false);
});

Deno.test("state.lint reports every error of a tree once, also names in the top file that are for other minions", async () => {
  const { shown, retcode } = await call("state.lint");
  assertEquals(retcode, 1);
  assertEquals(firstLines(shown).map((line) => line.replace(/(failed: Jinja).*/, "$1")), [
    "No matching sls found for 'db' in env 'base', which the top file gives to 'db*'",
    "Referenced state does not exist for requisite [require: (pkg: wbe)] in state [a] in SLS [alone]",
    "Rendering SLS 'base:broken' failed: Jinja",
  ]);
  const fine = { "broken.sls": "x: test.nop\n", "alone.sls": "y: test.nop\n", "db.sls": "z: test.nop\n" };
  assertEquals(await call("state.lint", { more: fine }), { shown: "5 SLS files, nothing wrong", retcode: 0 });
});

Deno.test("state.lint reports sources, excluded files and pillar that are not there", async () => {
  const more = {
    "conf/app.conf": "",
    "web/init.sls": "exclude: [{sls: brokne}]\n/a:\n  file.managed:\n    - source: salt://conf/ap.conf\n" +
      "/b:\n  file.managed:\n    - source: [salt://nope/x, salt://conf/app.conf]\n" +
      "/c:\n  file.recurse:\n    - source: salt://conf/\n/d:\n  file.managed:\n    - source: [salt://no, salt://nor]\n" +
      "/e:\n  file.managed:\n    - source: [salt://no, http://127.0.0.1/x]\n",
  };
  const { shown, retcode } = await call("state.lint", { args: ["web"], more });
  const problems = (Array.isArray(shown) ? shown : []).map((text) => String(text).split("\n").slice(0, 3).join("; "));
  assertEquals([problems, retcode], [[
    "exclude names the SLS 'brokne', which is not there; Did you mean 'broken'?; web/init.sls:1:12",
    "The source salt://conf/ap.conf of state '/a' (file) is not there in saltenv 'base'; " +
    "Did you mean salt://conf/app.conf?; web/init.sls:4:7",
    "The source salt://no, salt://nor of state '/d' (file) is not there in saltenv 'base'; web/init.sls:13:7; ---",
  ], 1]);
  const pillar = { _errors: ["Rendering SLS 'app' failed"] };
  const failed = await call("state.lint", { args: ["alone"], more: { "alone.sls": "y: test.nop\n" }, pillar });
  assertEquals(failed, { shown: ["Pillar: Rendering SLS 'app' failed"], retcode: 1 });
});

Deno.test("state.lint reports unknown arguments and functions, with the nearest known ones", async () => {
  const web = "web:\n  file.managed:\n    - name: /x\n    - usr: root\n    - mde: '0644'\nb:\n  test.nope: []\n" +
    "c:\n  test:\n    - noop\nd:\n  tset.nop: []\ne:\n  not_built.present: []\nf:\n  ours.present: []\n";
  const more = { "web/init.sls": web, "_states/ours.ts": "", "_states/theirs.py": "" };
  const { shown, retcode } = await call("state.lint", { args: ["web"], more });
  assertEquals(retcode, 1);
  const problems = (Array.isArray(shown) ? shown : []).map((text) => String(text).split("\n").slice(0, 3).join("; "));
  assertEquals(problems, [
    "State 'test.nope' was not found in SLS 'web'; Did you mean test.nop?; web/init.sls:7:3",
    "State 'test.noop' was not found in SLS 'web'; Did you mean test.nop?; web/init.sls:9:3",
    "State 'tset.nop' was not found in SLS 'web'; Did you mean test.nop?; web/init.sls:12:3",
    "State 'not_built.present' was not found in SLS 'web'; There is no state module not_built; web/init.sls:14:3",
    "unknown argument `usr` of file.managed in state 'web' in SLS 'web'; Did you mean user?; web/init.sls:4:7",
    "unknown argument `mde` of file.managed in state 'web' in SLS 'web'; Did you mean mode?; web/init.sls:5:7",
  ]);
});

Deno.test("a misspelt argument of a state that accepts any is ignored with state_check_arguments: False", async () => {
  const more = { "web/init.sls": "web:\n  file.managed:\n    - name: /x\n    - dirmode: '0755'\n" };
  const refused = await call("state.show_low_sls", { args: ["web"], more });
  assertEquals(firstLines(refused.shown), ["unknown argument `dirmode` of file.managed in state 'web' in SLS 'web'"]);
  const opts = { state_check_arguments: false };
  const { shown, retcode } = await call("state.show_low_sls", { args: ["web"], more, opts });
  assertEquals([order(shown), retcode], [["file /x"], 0]);
  // An error in Salt as well stays an error.
  const wrong = { "web/init.sls": "web:\n  test.nop: []\n  host.present:\n    - pi: 127.0.0.1\n" };
  assertEquals((await call("state.show_low_sls", { args: ["web"], more: wrong, opts })).retcode, 1);
});

Deno.test("an argument without its colon is not shown as a state function that is missing, too", async () => {
  const more = { "web/init.sls": "web:\n  file.managed:\n    - name: /x\n    - user root\n" };
  const { shown } = await call("state.lint", { args: ["web"], more });
  const found = firstLines(shown).map((line) => line.replace(/ in state .*/, ""));
  // Salt has these two as well.
  assertEquals(found, ['The function "user root"', "Too many functions declared"]);
});

Deno.test("a misspelt matcher of the top file is an error with its place, for every target and in every function", async () => {
  const more = { "top.sls": "base:\n  'web*': [web]\n  'os:Debian':\n    - match: compund\n    - web\n" };
  const text = "There is no matcher 'compund' for the target 'os:Debian' in saltenv 'base'\nDid you mean compound?\n" +
    "top.sls:4:7";
  for (const fun of ["state.lint", "state.show_top", "state.show_highstate", "state.show_lowstate"]) {
    const { shown, retcode } = await call(fun, { more });
    assert(Array.isArray(shown), fun);
    assert(shown.some((error) => str(error).startsWith(text)), `${fun}: ${str(shown)}`);
    assertEquals(retcode, 1);
  }
});

Deno.test("state.lint reports targets of the top file that cannot be read, and groups that are not there", async () => {
  const fine = { "broken.sls": "x: test.nop\n", "alone.sls": "y: test.nop\n", "db.sls": "z: test.nop\n" };
  const top = "base:\n  '*': [web]\n  'G@os:Debian and': [web]\n  webs:\n    - match: nodegroup\n    - web\n";
  const logged: string[] = [];
  const { shown } = await call("state.lint", { more: { ...fine, "top.sls": top }, logged });
  const unreadable =
    "The target 'G@os:Debian and' of the top file matches no minion: Cannot read the compound target: a term is missing at the end";
  // In the words of the result, so that a terminal has it once.
  assertEquals(logged.filter((line) => line.includes("top file")), [`mistake: ${unreadable}`]);
  assertEquals(firstLines(shown), [
    unreadable,
    "The target 'webs' of the top file matches no minion: there is no nodegroup 'webs'",
  ]);
});

Deno.test("an invalid top file is an error message", async () => {
  const broken = await call("state.show_top", { more: { "top.sls": "base:\n" } });
  assertEquals(broken.shown, "ERROR: Unable to render top file. No targets found.");
  assertEquals((await call("state.show_top", { more: { "top.sls": "{{ nope }}" } })).shown, new Map());
});

Deno.test("state.show_highstate fails if there are no states, as a top file that cannot be read has none", async () => {
  for (const top of ["{{ nope }}", "base: [\n", "base:\n  'db*': [web]\n", ""]) {
    assertEquals(await call("state.show_highstate", { more: { "top.sls": top } }), { shown: new Map(), retcode: 2 });
  }
  assertEquals((await call("state.show_highstate")).retcode, 0);
});

Deno.test("a call with pillarenv or pillar is compiled with its own pillar", async () => {
  const names = async (kwargs: Record<string, unknown>) =>
    order((await call("state.show_low_sls", { args: ["web"], kwargs })).shown);
  assertEquals(await names({}), ["file /etc/tls", "pkg nobody-Debian", "service web"]);
  assertEquals(await names({ pillarenv: "dev" }), ["file /etc/tls", "pkg dev-Debian", "service web"]);
  assertEquals(await names({ pillarenv: "dev", pillar: { who: "me" } }), [
    "file /etc/tls",
    "pkg me-Debian",
    "service web",
  ]);
});

Deno.test("a pillar that is no map, and a failed pillar, are refused", async () => {
  const context = testContext({ opts: testOpts({ file_client: "local" }) });
  await assertRejects(() => openHighState(context, map({ pillar: "x" })), InvocationError, "formatted as a dictionary");
  const encrypted = map({ pillar: "x", pillar_enc: "gpg" });
  await assertRejects(
    () => openHighState(context, encrypted),
    CommandError,
    "Pillar override was not passed as a dictionary",
  );
  const failed = await call("state.show_sls", { args: ["web"], kwargs: { pillar: { _errors: ["no"] } } });
  assertEquals(failed, { shown: "ERROR: Pillar failed to render. Additional info follows:\n\nno", retcode: 1 });
});

Deno.test("lock_saltenv refuses another environment", async () => {
  const locked = { lock_saltenv: true, saltenv: "base" };
  const { shown } = await call("state.show_sls", { args: ["web"], kwargs: { saltenv: "dev" }, opts: locked });
  assertEquals(shown, "ERROR: lock_saltenv is enabled, saltenv cannot be changed");
});

Deno.test("withMasterOpts() uses the master's value for its options, and both for shared ones", () => {
  const own: ValueMap = map({ renderer: "yaml", state_top: "own.sls", state_aggregate: ["pkg"], test: true });
  const master: ValueMap = map({
    renderer: "jinja|yaml",
    state_top: "top.sls",
    state_aggregate: true,
    env_order: ["dev"],
  });
  const opts = withMasterOpts(own, master);
  const names = ["renderer", "state_top", "state_aggregate", "test", "env_order", "nodegroups", "failhard"];
  assertEquals(names.map((name) => opts.get(name)), [
    "jinja|yaml",
    "top.sls",
    ["pkg"],
    true,
    ["dev"],
    new Map(),
    false,
  ]);
});

const A = { "t.sls": "a:\n  test.succeed_with_changes: []\n", "top.sls": "base:\n  '*': [t]\n" };

Deno.test("a top file whose target has a number is refused, not matched", async () => {
  await using tree = await openTree({ files: { ...A, "top.sls": "base:\n  '*': 5\n" } });
  const message =
    "1 Malformed topfile: state declarations for matcher '*' in saltenv 'base' are not formed as a list (got int)";
  assertEquals(refusal(await tree.call("state.highstate")), message);
});

Deno.test("state.lint reads pillar from a file, and says what is wrong with the file", async () => {
  const files = { "t.sls": "{{ pillar['name'] }}:\n  test.nop: []\n", "/p.yaml": "name: x\n", "/l.yaml": "[1]\n" };
  await using tree = await openTree({ files });
  const lint = (name: string) => tree.call("state.lint", ["t"], { pillar_file: `${tree.root}/${name}` });
  assertEquals((await lint("p.yaml")).returned, "1 SLS file, nothing wrong");
  assertStringIncludes(String((await lint("nothing.yaml")).error), `There is no file ${tree.root}/nothing.yaml`);
  assertStringIncludes(String((await lint("l.yaml")).error), "l.yaml holds a list instead of a map");
});

Deno.test("state.lint says once that a file is no map, where an argument of a name stands, and once that an environment is not there", async () => {
  await using tree = await openTree({
    files: {
      "list.sls": "[1]\n",
      "names.sls": "a:\n  file.managed:\n    - names:\n      - /x:\n        - sorce: y\n",
      "many.sls": "a:\n  file.managed:\n    - names: [/x, /y]\n    - sorce: z\n",
      "top.sls": "base:\n  '*': [names]\nnothere:\n  '*': [gone]\n",
    },
  });
  const lintMessages = async (...mods: string[]) => {
    const { returned } = await tree.call("state.lint", mods);
    assert(Array.isArray(returned), str(returned));
    return returned.map(str);
  };
  assertEquals((await lintMessages("list")).length, 1);
  assertStringIncludes((await lintMessages("names"))[0], "unknown argument `sorce` of file.managed in state 'a'");
  assertEquals((await lintMessages("many")).filter((text) => text.includes("sorce")).length, 1);
  assertEquals((await lintMessages()).filter((text) => text.includes("gone")).map((text) => text.split("\n")[0]), [
    "No matching sls found for 'gone' in env 'nothere'",
  ]);
});

Deno.test("state.lint: only names of SLS files that are no patterns must be there to be excluded", async () => {
  const web = "exclude: ['w*', {sls: 'd?'}, {id: b}, {sls: 5}, {sls: alone}, nope]\na: test.nop\nb: test.nop\n";
  const { shown } = await call("state.lint", { args: ["web"], more: { "web/init.sls": web } });
  assertEquals(firstLines(shown), ["exclude names the SLS 'nope', which is not there"]);
});

Deno.test("state.lint takes a target that is a number for no mistake: it matches no minion, as in Salt", async () => {
  const more = { "top.sls": "base:\n  '*': [web]\n  5:\n    - match: compound\n    - web\n" };
  const fine = { "broken.sls": "x: test.nop\n", "alone.sls": "y: test.nop\n", "db.sls": "z: test.nop\n" };
  assertEquals((await call("state.lint", { more: { ...fine, ...more } })).shown, "5 SLS files, nothing wrong");
});

Deno.test("an SLS file that is no UTF-8 is an error with its name", async () => {
  await using tree = await openTree({ files: { "good.sls": "a: test.nop\n" } });
  await Deno.writeFile(`${tree.root}/srv/bad.sls`, new Uint8Array([0x61, 0xe4, 0x3a]));
  const { returned, retcode } = await tree.call("state.show_sls", ["bad"]);
  assertEquals(retcode, 1);
  assert(Array.isArray(returned));
  assertStringIncludes(str(returned[0]), "Rendering SLS 'base:bad' failed: The file is not UTF-8 text");
});

Deno.test("a matcher of the operator that does not load is an error of the call", async () => {
  const grains = map({ id: "m1" });
  const catalogue = { ...loadCatalogue({ grains: () => grains }), ownModules: ["matchers/rack_match"] };
  const files = { "top.sls": "base:\n  'r1':\n    - match: rack\n    - a\n", "a.sls": "a: test.nop\n" };
  await using tree = await openTree({ files, context: { catalogue } });
  const { error } = await tree.call("state.show_top");
  assertEquals(error?.message, "The matcher rack does not load");
});

Deno.test("state.single takes arguments as they are with state_check_arguments: False", async () => {
  for (const state_check_arguments of [true, false]) {
    await using tree = await openTree({ opts: { state_check_arguments } });
    const { error, returned } = await tree.call("state.single", ["test.nop", "x"], { requird: 1 });
    const result = isMap(returned) ? [...returned.values()][0] : undefined;
    assertEquals(error?.message.includes("requird") ?? false, state_check_arguments, error?.message);
    assertEquals(isMap(result ?? null) && isMap(result!) && result.get("result"), !state_check_arguments);
  }
});

Deno.test("without states a minion of a master says that its log has the reason", async () => {
  const request = (load: ValueMap) =>
    Promise.resolve(load.get("cmd") === "_file_list" || load.get("cmd") === "_file_envs" ? [] : new Map());
  await using tree = await openTree({
    opts: { file_client: "remote" },
    context: { outside: { ...testContext().outside, request } },
  });
  const { returned } = await tree.call("state.highstate");
  assertStringIncludes(
    JSON.stringify([returned], (_, value) => value instanceof Map ? [...value] : value),
    "No Top file or master_tops data matches found. Please see master log for details.",
  );
});
