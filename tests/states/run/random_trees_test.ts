/**
 * Properties of runs of random states: neither a plan nor test mode changes a byte on the disk, and a second run
 * changes nothing.
 *
 * `SALT_RANDOM_TREES=5000` sets the number of trees, `SALT_RANDOM_SEED=x` the seed. A failure names its seed and shows
 * its states.
 * @module
 */

import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, truthy, type Value } from "#lib/values/value.ts";
import { Random } from "#tests/fuzz/mutate.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { type Place, randomHost, type RandomState, randomState } from "./random_states.ts";
import { openTree, type StateTree } from "#tests/support/calls/state_tree.ts";
import { treeFacts } from "#tests/support/tree_facts.ts";

const TREES = Number(Deno.env.get("SALT_RANDOM_TREES") ?? 120);
const SEED = Deno.env.get("SALT_RANDOM_SEED") ?? "plan";
const STATES = 8;

const FILES = {
  "one.txt": "one\n",
  "t.jinja": "{{ grains.os }}\n",
  "tree/x": "x\n",
  "tree/sub/y": "{{ grains.os }}\n",
  "script.sh": "#!/bin/sh\necho made\n",
};

/** An SLS file of these states, each with a number as ID. */
function slsOf(states: readonly RandomState[]): string {
  const high = Object.fromEntries(states.map(({ fun, args }, i) => {
    return [`s${i}`, { [fun]: Object.entries(args).map(([key, value]) => ({ [key]: value })) }];
  }));
  return `#!json\n${dumpJson(map(high))}\n`;
}

async function command(words: readonly string[]): Promise<void> {
  const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const { success, stderr } = await new Deno.Command(words[0], { args: words.slice(1), env }).output();
  assert(success, new TextDecoder().decode(stderr));
}

/** The paths that states of all trees change besides their own directory. */
interface Shared {
  /** The file that `host` states change. */
  readonly hosts: string;
  /** A bare repository with a commit. */
  readonly repository: string;
}

/** Also makes grains, and an archive on the file server. */
async function prepare(tree: StateTree): Promise<Shared> {
  const hosts = `${tree.root}/hosts`;
  tree.context.opts.extra.set("hosts.file", hosts);
  await Deno.writeTextFile(hosts, "10.0.0.9 old\n");
  await Deno.mkdir(`${tree.root}/etc/salt`, { recursive: true });
  await Deno.writeTextFile(`${tree.root}/etc/salt/grains`, "list: [a]\n");
  const repository = `${tree.root}/repository.git`;
  await command(["git", "init", "-q", "--bare", "-b", "main", repository]);
  await command(["git", "clone", "-q", repository, `${tree.root}/work`]);
  const here = ["git", "-C", `${tree.root}/work`, "-c", "user.name=a", "-c", "user.email=a@example.com"];
  await command([...here, "commit", "-q", "--allow-empty", "-m", "first"]);
  await command([...here, "push", "-q", "origin", "HEAD:main"]);
  await command(["tar", "-cf", `${tree.root}/srv/t.tar`, "-C", `${tree.root}/srv`, "tree"]);
  return { hosts, repository };
}

Deno.test(`neither a plan nor test mode changes a byte, in ${TREES} trees of random states`, async () => {
  await using tree = await openTree({ files: FILES });
  const { hosts, repository } = await prepare(tree);
  const before = treeFacts(`${tree.root}/srv`);
  let [called, wouldChange] = [0, 0];
  for (let i = 0; i < TREES; i++) {
    const random = new Random(`${SEED} ${i}`);
    const place: Place = { host: `${tree.root}/host${i}`, repository };
    await randomHost(random, place.host);
    const states = Array.from({ length: STATES }, () => randomState(random, place));
    await Deno.writeTextFile(`${tree.root}/srv/t${i}.sls`, slsOf(states));
    const facts = () => [place.host, hosts, `${tree.root}/etc`, repository].flatMap(treeFacts);
    const before = facts();
    for (const [fun, kwargs] of [["state.plan", {}], ["state.sls", { test: true }]] as const) {
      const { returned } = await tree.call(fun, [`t${i}`], kwargs);
      assertEquals(facts(), before, `${fun} of seed "${SEED} ${i}": ${JSON.stringify(states, null, 1)}`);
      for (const result of resultsOf(returned, states)) {
        called++;
        if (result === null) wouldChange++;
      }
    }
    await Deno.remove(place.host, { recursive: true });
    await Deno.remove(`${tree.root}/srv/t${i}.sls`);
  }
  assertEquals(treeFacts(`${tree.root}/srv`).slice(1), before.slice(1));
  // Otherwise the test would prove nothing.
  assert(called > TREES * STATES && wouldChange > called / 5, `${called} results, ${wouldChange} of changes`);
});

function resultsOf(returned: Value, states: readonly RandomState[]): Value[] {
  assert(isMap(returned), `${JSON.stringify(states)}: ${Array.isArray(returned) ? returned.join("\n") : returned}`);
  return [...returned.values()].map((one) => isMap(one) ? one.get("result") ?? null : null);
}

/** Whether a state may make a change in each run. Checked against Salt: `file.line` that inserts at the end. */
function doesEachTime({ fun, args }: RandomState): boolean {
  if (["file.touch", "cmd.run", "cmd.script", "cmd.wait"].includes(fun)) return true;
  // An insertion at the end of a file does not check whether the line exists.
  if (fun === "file.line") return args.mode === "insert";
  // The appended text need not match the pattern.
  if (fun === "file.replace") return args.append_if_not_found === true || args.prepend_if_not_found === true;
  // Numbers and lists are written as strings, and are read back as strings.
  if (fun === "file.serialize") return args.serializer === "configparser";
  // A bare repository is fetched, and an archive extracted again, each time.
  return fun === "git.latest" && args.bare === true || fun === "archive.extracted" && args.overwrite === true;
}

Deno.test(`a second run of the same state changes nothing, in ${TREES} random states`, async () => {
  await using tree = await openTree({ files: FILES });
  const { hosts, repository } = await prepare(tree);
  let [changed, applied] = [0, 0];
  for (let i = 0; i < TREES; i++) {
    const random = new Random(`${SEED} again ${i}`);
    const place: Place = { host: `${tree.root}/host${i}`, repository };
    await randomHost(random, place.host);
    const state = randomState(random, place);
    if (doesEachTime(state)) continue;
    await Deno.writeTextFile(`${tree.root}/srv/t${i}.sls`, slsOf([state]));
    const apply = async () => {
      const { returned } = await tree.call("state.sls", [`t${i}`]);
      const [result] = isMap(returned) ? returned.values() : [];
      assert(isMap(result), `${JSON.stringify(state)}: ${returned}`);
      return result;
    };
    const first = await apply();
    // A failed state has no such guarantee.
    if (first.get("result") !== true) continue;
    applied++;
    if (truthy(first.get("changes") ?? null)) changed++;
    // git updates its own files when it reads a repository.
    const facts = () =>
      [...state.fun.startsWith("git.") ? [] : [place.host], hosts, `${tree.root}/etc`].flatMap(treeFacts);
    const before = facts();
    const second = await apply();
    const what = `seed "${SEED} again ${i}": ${JSON.stringify(state, null, 1)}`;
    assertEquals([second.get("result"), second.get("changes")], [true, new Map()], what);
    assertEquals(facts(), before, what);
    await Deno.remove(place.host, { recursive: true });
  }
  // Otherwise the test would prove nothing.
  assert(applied > TREES / 4 && changed > applied / 4, `${applied} applied, ${changed} of them changed something`);
});
