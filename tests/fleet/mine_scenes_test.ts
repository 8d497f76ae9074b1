/**
 * The mine of a whole fleet, step by step, with the answers that a fleet of Python Salt 3008.3 gave
 * (tests/corpus/mine_scenes.json). Steps: `salt` a job, `run` salt-run, `call` salt-call, `key` salt-key, `ask` an
 * encrypted request of an accepted minion, `msgpack` a file, `sh` a command in the root directory, `write` a file.
 * A word with `~` before it is repeated until the answer is the wanted one: minions fill the mine at their start.
 * @module
 */

import { MasterLink } from "#lib/minion/masters/link.ts";
import { applicantOf, linkSettings } from "#lib/minion/masters/link_settings.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { decode } from "#lib/values/msgpack.ts";
import { equals, isMap, repr, str, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { run } from "#tests/support/processes.ts";
import corpus from "#tests/corpus/mine_scenes.json" with { type: "json" };

type Options = Readonly<Record<string, unknown>>;

/** A scene of the corpus. */
interface Scene {
  readonly master: Options;
  readonly minions: Readonly<Record<string, Options>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly cases: readonly {
    readonly name: string;
    readonly drop?: readonly string[];
    readonly steps: readonly (readonly unknown[])[];
    readonly answers: readonly unknown[];
  }[];
}

/** Answers that are others here on purpose, by case and step; docs/differences.md has them. */
const OTHERS: Readonly<Record<string, unknown>> = {
  // The directory is for its owner.
  "kept on the master 2": "700\n600\n",
  // A target that matches nobody means nobody.
  "salt-run mine.get, cache.mine 5": [0, {}],
  // A key that is deleted takes the mine along at once.
  "a deleted key takes its mine along 1": "",
};

class Stage implements AsyncDisposable {
  readonly #links = new Map<string, MasterLink>();

  constructor(readonly fleet: Fleet, readonly root: string) {}

  /** Does a step, and returns what it is answered with; `undefined` if nothing is to be compared. */
  async do([word, ...given]: readonly unknown[]): Promise<Value | undefined> {
    const step = str(toValue(word)).replace(/^~/, "");
    const words = given.map((each) => typeof each === "string" ? this.#path(each) : dumpJson(toValue(each)));
    switch (step) {
      case "salt": {
        const { code, out } = await this.fleet.salt("--static", "--out=json", ...words);
        const returned = parseJson(out);
        return [code, isMap(returned) ? returned.get(words[0]) ?? null : returned];
      }
      case "run": {
        const { code, out } = await this.fleet.saltRun("--out=json", ...words);
        return [code, parseJson(out)];
      }
      case "call": {
        const [id, ...rest] = words;
        const { code, out } = await this.fleet.saltCall(id, "--out=json", ...rest);
        const shown = parseJson(out);
        return [code, isMap(shown) ? shown.get("local") ?? null : shown];
      }
      case "key":
        await this.fleet.saltKey(...words);
        return undefined;
      case "ask": {
        const load = toValue(given[1]);
        assert(isMap(load));
        return ["ok", await (await this.#link(words[0])).request(new Map(load).set("id", words[0]), never)];
      }
      case "msgpack":
        return decode(Deno.readFileSync(words[0]), "disk");
      case "sh":
        return (await run(["sh", "-c", `cd '${this.fleet.configDir}' && ${words[0]}`])).out;
      case "write":
        Deno.writeTextFileSync(`${this.root}/${words[0]}`, words[1]);
        return undefined;
      case "sleep":
        return undefined;
      default:
        throw new Error(`no step ${step}`);
    }
  }

  #path(text: string): string {
    return text.replaceAll("@CACHE@", this.fleet.masterOpts.cachedir);
  }

  /** A signed-in minion of this id. */
  async #link(id: string): Promise<MasterLink> {
    const known = this.#links.get(id);
    if (known !== undefined) return known;
    const opts = this.fleet.minionOpts(id);
    const applicant = await applicantOf(opts, new Map());
    const link = new MasterLink(linkSettings(opts, { applicant, log: SILENT_LOGGER }));
    this.#links.set(id, link);
    await link.signIn(never);
    return link;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links.values()) link.close();
    await this.fleet[Symbol.asyncDispose]();
    Deno.removeSync(this.root, { recursive: true });
  }
}

const never = new AbortController().signal;

async function openStage(scene: Scene): Promise<Stage> {
  const root = Deno.makeTempDirSync({ prefix: "mine_scene_" });
  for (const tree of ["salt", "pillar"]) Deno.mkdirSync(`${root}/srv/${tree}`, { recursive: true });
  for (const [path, text] of Object.entries(scene.files ?? {})) Deno.writeTextFileSync(`${root}/${path}`, text);
  const roots = { file_roots: { base: [`${root}/srv/salt`] }, pillar_roots: { base: [`${root}/srv/pillar`] } };
  const stage = new Stage(await startFleet({ master: { ...roots, ...scene.master } }), root);
  const ids = Object.keys(scene.minions);
  await stage.fleet.untilServing(
    ids,
    () => Promise.all(ids.map((id) => stage.fleet.startMinion(id, scene.minions[id]))),
  );
  return stage;
}

/** Without the keys that differ each time, and with tuples as lists. */
function plain(value: Value, drop: readonly string[]): Value {
  if (Array.isArray(value)) return [...value].map((each) => plain(each, drop));
  if (!isMap(value)) return value;
  const kept = [...value].filter(([key]) => !drop.includes(str(key)));
  return new Map(kept.map(([key, each]) => [key, plain(each, drop)]));
}

for (const [name, scene] of Object.entries(corpus.scenes as unknown as Record<string, Scene>)) {
  Deno.test(`${name}: each step is answered as by Python Salt`, async (t) => {
    await using stage = await openStage(scene);
    for (const { name, steps, answers, drop = [] } of scene.cases) {
      await t.step(name, async () => {
        for (const [i, step] of steps.entries()) {
          const key = `${name} ${i}`;
          const expected = Object.hasOwn(OTHERS, key) ? OTHERS[key] : answers[i];
          const compare = async () => {
            const got = await stage.do(step);
            if (got === undefined || expected === null) return true;
            const wanted = toValue(expected), shown = plain(got, drop);
            assert(equals(shown, wanted), `${JSON.stringify(step)}\n gave ${repr(shown)}\n want ${repr(wanted)}`);
            return true;
          };
          if (str(toValue(step[0])).startsWith("~")) await eventually(compare, { what: `the answer of ${key}` });
          else await compare();
        }
      });
    }
    assertEquals(stage.fleet.logs.filter((line) => line.includes("[ERROR]") && line.includes(" master:")), []);
  });
}
