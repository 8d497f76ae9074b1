/**
 * State trees applied to directories, with the returns of Python Salt and the files that it left: the cases of
 * `corpus/state_situations/`, made by tests/corpus/make_state_situations.py. Each case runs in its own directory and in
 * this process, as `state.sls` of a masterless minion.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { build, listAt, mapAt, replaceIn, snapshot } from "./call_cases.ts";
import { corpusFile, isThere } from "./corpus_files.ts";
import { run, testContext, testOpts } from "./job_context.ts";
import { makeTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Placeholder for the directory of a situation. */
const ROOT = "@@";

const GRAINS: ValueMap = map({
  id: "m1",
  kernel: "Linux",
  os: "Debian",
  os_family: "Debian",
  osmajorrelease: 12,
  shell: "/bin/sh",
  username: "root",
});

/** The environment of git outside of a situation, as in make_state_situations.py. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((who) => [
      [`GIT_${who}_NAME`, "A"],
      [`GIT_${who}_EMAIL`, "a@b"],
      [`GIT_${who}_DATE`, "1700000000 +0000"],
    ]),
  ),
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  LC_ALL: "C.UTF-8",
};

/**
 * Registers a test for each situation of a family, which is a module or a subject.
 * @returns The number of tests; 0 if there is no such family.
 */
export function testSituations(family: string): number {
  const file = corpusFile(`state_situations/${family}.json`);
  if (!isThere(file)) return 0;
  const cases = parseJson(Deno.readTextFileSync(file));
  assert(Array.isArray(cases) && cases.length > 0);
  for (const situation of cases.filter(isMap)) {
    const name = str(situation.get("name") ?? "");
    const why = situation.get("why");
    Deno.test({
      name: `${name}: as Python Salt applies it${why === undefined ? "" : ` (but: ${str(why)})`}`,
      // The situations were recorded as root.
      ignore: Deno.uid() !== 0,
      fn: () => check(situation),
    });
  }
  return cases.length;
}

async function check(situation: ValueMap): Promise<void> {
  const home = makeTemporaryDirectory("situation_");
  const environment = Deno.env.toObject();
  for (const [name, value] of Object.entries(ENVIRONMENT)) Deno.env.set(name, value);
  try {
    await prepare(situation, home);
    await apply(situation, home);
  } finally {
    for (const name of Object.keys(Deno.env.toObject())) if (!(name in environment)) Deno.env.delete(name);
    for (const [name, value] of Object.entries(environment)) Deno.env.set(name, value);
    await Deno.remove(home, { recursive: true });
  }
}

/**
 * Creates the directories of a situation: files in `root`, states in `srv`, states of further saltenvs in `srv_NAME`.
 */
async function prepare(situation: ValueMap, home: string): Promise<void> {
  const filled = (value: Value) => replaceIn(value, ROOT, `${home}/root`);
  const tree = new Map([["situation.sls", situation.get("sls") ?? ""], ...mapAt(situation, "tree")]);
  for (const [name, files] of [["root", mapAt(situation, "before")], ["srv", tree]] as const) {
    await Deno.mkdir(`${home}/${name}`);
    await build(`${home}/${name}`, mapAt(new Map([["files", filled(files)]]), "files"));
  }
  for (const [name, files] of mapAt(situation, "environments")) {
    await Deno.mkdir(`${home}/srv_${str(name)}`);
    await build(`${home}/srv_${str(name)}`, mapAt(new Map([["files", filled(files)]]), "files"));
  }
  const setup = situation.get("setup");
  if (typeof setup !== "string") return;
  const { success, stderr } = await new Deno.Command("sh", {
    args: ["-ec", str(filled(setup))],
    cwd: `${home}/root`,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
}

async function apply(situation: ValueMap, home: string): Promise<void> {
  const root = `${home}/root`;
  const pillar = replaceIn(mapAt(situation, "pillar"), ROOT, root);
  const context = testContext({
    opts: testOpts({
      id: "m1",
      root_dir: home,
      cachedir: `${home}/cache`,
      file_client: "local",
      file_roots: new Map([
        ["base", [`${home}/srv`]],
        ...[...mapAt(situation, "environments").keys()].map((
          name,
        ): [Value, Value] => [name, [`${home}/srv_${str(name)}`]]),
      ]),
      ...Object.fromEntries(mapAt(situation, "options")),
    }),
    grains: GRAINS,
    pillar: isMap(pillar) ? pillar : new Map(),
    catalogue: loadCatalogue({ grains: () => GRAINS }),
    outside: { ...testContext().outside, pillar: () => Promise.resolve(isMap(pillar) ? pillar : new Map()) },
  });
  const unseen = listAt(situation, "unseen");
  let before = files(root, unseen);
  for (const expected of listAt(situation, "runs").filter(isMap)) {
    const name = str(expected.get("run") ?? "");
    const test = name.startsWith("would");
    const { return: returned } = await run(
      "state.sls",
      ["situation", map({ __kwarg__: true, test })],
      context,
    );
    const own = mapAt(mapAt(situation, "ours"), name);
    const wantedReturn = withOurs(expected.get("return") ?? null, mapAt(own, "return"));
    const [ours, theirs] = [bare(returned, home), wantedReturn].map(firstLines)
      .map((value) => situation.get("unordered") === true ? ordered(value) : value);
    assertEquals(shown(ours), shown(theirs), `the return of "${name}"`);
    const after = files(root, unseen);
    const wanted = own.get("files") ?? expected.get("files") ?? before;
    assertEquals(
      shown(replaceIn(after, root, ROOT)),
      shown(replaceIn(wanted, root, ROOT)),
      `the files after "${name}"`,
    );
    before = after;
  }
}

/** The return of Python Salt, with the fields that differ here replaced by ours. */
function withOurs(theirs: Value, ours: ValueMap): Value {
  if (!isMap(theirs)) return theirs;
  return new Map(
    [...theirs].map(([tag, result]) => [tag, isMap(result) ? new Map([...result, ...mapAt(ours, str(tag))]) : result]),
  );
}

/** Errors of the compiler without the file positions that ours add to Salt's text. */
function firstLines(value: Value): Value {
  return Array.isArray(value) ? value.map((text) => str(text).split("\n")[0]) : value;
}

/** The return of a situation in which Salt iterates over a set, with lists and lines of text sorted. */
function ordered(value: Value): Value {
  if (typeof value === "string") return value.split("\n").sort().join("\n");
  if (Array.isArray(value)) return value.map(ordered).sort((a, b) => dumpJson(a) < dumpJson(b) ? -1 : 1);
  return isMap(value) ? new Map([...value].map(([key, item]) => [key, ordered(item)])) : value;
}

/** A return without the parts that differ from run to run, as in make_state_situations.py. */
function bare(value: Value, home: string): Value {
  if (typeof value === "string") {
    return value.replaceAll(`${home}/root`, ROOT).replaceAll(`${home}/cache`, "@cache@").replaceAll(
      `${home}/srv`,
      "@srv@",
    )
      .replace(/(An exception occurred in this state: ).*/s, "$1");
  }
  if (Array.isArray(value)) return value.map((item) => bare(item, home));
  if (!isMap(value)) return value;
  return new Map(
    [...value].filter(([key]) => key !== "start_time" && key !== "duration").map(([key, item]) => [
      bare(key, home),
      key === "pid" && item !== null && item !== 0 ? 1 : bare(item, home),
    ]),
  );
}

/** The content of the root without git's internal files. */
function files(root: string, unseen: readonly Value[]): Value {
  return seen(snapshot(root), unseen);
}

function seen(tree: ValueMap, unseen: readonly Value[]): ValueMap {
  return new Map(
    [...tree].filter(([name]) => name !== ".git" && !unseen.includes(name)).map(([name, what]) => [
      name,
      isMap(what) && what.has("dir") ? new Map([...what, ["dir", seen(mapAt(what, "dir"), [])]]) : what,
    ]),
  );
}

/** As text, a line for each entry, with sorted keys. */
function shown(value: Value): string {
  return dumpJson(sorted(value), { indent: 1, ensureAscii: false });
}

function sorted(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return new Map(
    [...value].map(([key, item]): [string, Value] => [str(key), sorted(item)]).sort(([a], [b]) => a < b ? -1 : 1),
  );
}
