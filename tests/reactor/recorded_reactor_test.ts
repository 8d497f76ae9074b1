/**
 * Recorded answers of Python Salt 3008.3 (recorded/reactor.json), asked of a master of ours with one minion and the
 * accepted key of another that never comes. They were made with live masters and minions of that version, on Linux as
 * root: each case fires events and notes the events that came of them. Job ids, dates, paths and host names are made
 * equal; `null`: not compared. A new case is a line in that file.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map, toValue, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Case {
  readonly name: string;
  readonly steps: readonly (readonly Json[])[];
  readonly answers: readonly Json[];
  readonly mute?: readonly number[];
  readonly drop?: readonly string[];
}

interface Scene {
  readonly master: Readonly<Record<string, Json>>;
  readonly minions: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly files: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
}

interface Wanted {
  readonly tags?: readonly string[];
  readonly where?: Readonly<Record<string, Json>>;
  readonly of?: readonly string[];
  readonly n?: number;
  readonly sorted?: boolean;
  readonly data_only?: boolean;
}

/** Where our answer differs on purpose. */
const OURS: Readonly<Record<string, (recorded: Case) => Case>> = {
  // A runner with wrong arguments has failed (docs/differences.md).
  "runner: wrong arguments": (recorded) => ({
    ...recorded,
    drop: ["return", "success"],
    answers: withoutSuccess(recorded),
  }),
};

function withoutSuccess({ answers }: Case): Json[] {
  return answers.map((answer) => without(answer, ["success"]));
}

const FILE = new URL("./recorded/reactor.json", import.meta.url);
const { scenes } = JSON.parse(Deno.readTextFileSync(FILE)) as { readonly scenes: Readonly<Record<string, Scene>> };

const JOBS = ["salt/job/*/new"];
/** Keys of events that differ each time. */
const VOLATILE = new Set(["_stamp", "jid", "minions", "missing", "tok", "ts", "nonce", "sig", "cmd"]);
const WAIT_MS = 30_000;
/** Time in which an event that must not come would come, in milliseconds, after the reactor is known to be through. */
const QUIET_MS = 300;

/** One scene on our master. */
class Stage {
  readonly #fleet: Fleet;
  readonly #root: string;
  readonly #events: EventSubscriber;
  readonly #seen: BusEvent[] = [];
  #from = 0;
  /** The number of events that were seen before the case. */
  #began = 0;
  #marks = 0;

  constructor(fleet: Fleet, root: string, events: EventSubscriber) {
    this.#fleet = fleet;
    this.#root = root;
    this.#events = events;
  }

  async run({ steps, answers, mute = [], drop = [] }: Case): Promise<void> {
    this.#from = this.#seen.length;
    await this.#through();
    this.#from = this.#began = this.#seen.length;
    for (const [i, [word, ...rest]] of steps.entries()) {
      const expected = answers[i];
      const answer = await this.#step(String(word), rest, Array.isArray(expected) ? expected.length : 0);
      if (expected === null || mute.includes(i)) continue;
      assertEquals(without(answer, drop), expected, `step ${i}: ${dumpJson(toValue(steps[i]))}`);
    }
  }

  async #step(word: string, rest: readonly Json[], count: number): Promise<Json> {
    switch (word) {
      case "react": {
        const [tag, data, wanted = {}] = rest;
        await this.#through();
        this.#from = this.#seen.length;
        await this.#fleet.fire(String(tag), asMap(data));
        await this.#through();
        return await this.#found({ tags: JOBS, of: ["fun", "arg", "tgt", "tgt_type", "user"], ...wanted as Wanted });
      }
      case "send":
        await this.#fleet.fire(String(rest[0]), asMap(JSON.parse(String(rest[1]))));
        return null;
      case "events":
        this.#from = this.#began;
        await this.#through();
        return await this.#found({ n: count, ...rest[0] as Wanted });
      case "run": {
        const { code, out } = await this.#fleet.saltRun(...this.#words(rest), "--out=json");
        return [code, JSON.parse(out)];
      }
      case "salt":
        await this.#fleet.salt(String(rest[0]), ...this.#words(rest.slice(1)));
        return null;
      case "write":
        Deno.writeTextFileSync(`${this.#root}/${rest[0]}`, this.#filled(String(rest[1])));
        return null;
      case "sleep":
        await new Promise((resolve) => setTimeout(resolve, Number(rest[0]) * 100));
        return null;
      case "minion":
        await this.#fleet.stopMinion(String(rest[0]));
        await this.#fleet.startMinion(String(rest[0]));
        return null;
      default:
        throw new Error(`a step ${word}`);
    }
  }

  #words(words: readonly Json[]): string[] {
    return words.map((word) => this.#filled(String(word)));
  }

  #filled(text: string): string {
    return text.replaceAll("@ROOT@", this.#root);
  }

  /** Waits until the reactor has come to an event that is fired now. */
  async #through(): Promise<void> {
    const n = ++this.#marks;
    await this.#fleet.fire("mark", map({ n }));
    await this.#until(({ tag, data }) => isMark(tag, data, n), `the mark ${n}`);
  }

  async #until(wanted: (event: BusEvent) => boolean, what: string): Promise<void> {
    for (let at = this.#from;; at++) {
      for (; at < this.#seen.length; at++) if (wanted(this.#seen[at])) return;
      const event = await this.#events.next(WAIT_MS);
      assert(event !== undefined, `${what} does not come`);
      this.#seen.push(event);
      at--;
    }
  }

  async #found({ tags = [], where = {}, of, n, sorted, data_only }: Wanted): Promise<Json> {
    const matching = () =>
      this.#seen.slice(this.#from).filter(({ tag, data }) =>
        tags.some((glob) => matchesGlob(glob, tag)) && !isMark(tag, data) &&
        Object.entries(where).every(([key, value]) => dumpJson(data.get(key) ?? null) === dumpJson(toValue(value)))
      );
    const wanted = n ?? 0;
    if (matching().length < wanted) await this.#until(() => matching().length >= wanted, `${wanted} of ${tags}`);
    for (
      let event = await this.#events.next(QUIET_MS);
      event !== undefined;
      event = await this.#events.next(QUIET_MS)
    ) {
      this.#seen.push(event);
    }
    const shown = matching().map(({ tag, data }): [string, Json] => {
      const all = JSON.parse(dumpJson(data)) as Record<string, Json>;
      const keys = of ?? Object.keys(all).filter((key) => !VOLATILE.has(key));
      const kept = Object.fromEntries(keys.filter((key) => key in all).map((key) => [key, all[key]]));
      return [tag.replaceAll(/\d{20}/g, "<jid>"), kept];
    });
    if (sorted) shown.sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    return data_only ? shown.map(([, data]) => data) : shown;
  }
}

function isMark(tag: string, data: ValueMap, n?: number): boolean {
  const arg = data.get("arg");
  const text = Array.isArray(arg) ? arg[0] : undefined;
  return /^salt\/job\/\d+\/new$/.test(tag) && typeof text === "string" &&
    (n === undefined ? text.startsWith("mark ") : text === `mark ${n}`);
}

function asMap(json: Json): ValueMap {
  const value = toValue(json);
  assert(value instanceof Map);
  return value;
}

/** The answer without the keys that are not compared. */
function without(answer: Json, drop: readonly string[]): Json {
  if (drop.length === 0) return answer;
  return JSON.parse(JSON.stringify(answer, (key, value) => drop.includes(key) ? undefined : value));
}

for (const [name, scene] of Object.entries(scenes)) {
  Deno.test(`recorded: ${name}`, async (test) => {
    await withTemporaryDirectory(async (root) => {
      const filled = (value: Json): Json => JSON.parse(JSON.stringify(value).replaceAll("@ROOT@", root));
      await using fleet = await startFleet({
        minions: Object.keys(scene.minions),
        master: { ...filled(scene.master) as Record<string, Json>, fileserver_list_cache_time: 0 },
        minion: { grains: { role: "web" } },
      });
      for (const [path, text] of Object.entries(scene.files)) {
        const to = path.startsWith("srv/salt/") ? `${fleet.root}/srv/${path.slice(9)}` : `${root}/${path}`;
        Deno.mkdirSync(to.slice(0, to.lastIndexOf("/")), { recursive: true });
        Deno.writeTextFileSync(to, text.replaceAll("@ROOT@", root));
      }
      const keys = `${fleet.masterOpts.pki_dir}/minions`;
      Deno.copyFileSync(`${keys}/m1`, `${keys}/g1`);
      using events = await EventSubscriber.connect(masterBus(fleet.masterOpts.sock_dir).pub, [""]);
      const stage = new Stage(fleet, root, events);
      for (const each of scene.cases) {
        await test.step(each.name, () => stage.run(OURS[each.name]?.(each) ?? each));
      }
    });
  });
}
