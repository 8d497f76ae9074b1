/**
 * Recorded answers of Python Salt 3008.3 (recorded/schedule.json), asked of a master and minions of ours. They were
 * made with live masters and minions of that version, on Linux as root. Steps: `salt` a job, `yaml` a file as data,
 * `write` a file, `sh` a command in the root directory, `events` of the master's bus, `listen` and `heard` for those
 * of a minion's bus, `minion` stops and starts one. A word with `~` before it is repeated until the answer is the
 * wanted one. `null`: not compared. A new case is a line in that file.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { masterBus, minionBus } from "#lib/bus/paths.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { exists } from "#lib/os/file_kind.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { dumpJson } from "#lib/values/json.ts";
import { toValue } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Case {
  readonly name: string;
  /** What was there when the case was recorded: steps whose answers are not compared. */
  readonly before?: readonly (readonly Json[])[];
  readonly steps: readonly (readonly Json[])[];
  readonly answers: readonly Json[];
  readonly mute?: readonly number[];
  readonly drop?: readonly string[];
  readonly types?: readonly string[];
}

interface Scene {
  readonly master?: Readonly<Record<string, Json>>;
  readonly minions: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly cases: readonly Case[];
}

interface Wanted {
  readonly tags: readonly string[];
  readonly where?: Readonly<Record<string, Json>>;
  readonly of?: readonly string[];
  readonly n?: number;
  readonly count?: number;
  readonly first?: number;
  readonly data_only?: boolean;
  readonly tags_only?: boolean;
}

const FILE = new URL("./recorded/schedule.json", import.meta.url);
const { scenes } = JSON.parse(Deno.readTextFileSync(FILE)) as { readonly scenes: Readonly<Record<string, Scene>> };

/** Answers that are others here on purpose, by case and step; docs/differences.md has them. */
const OTHERS: Readonly<Record<string, Json>> = {
  "build_schedule_item 3": [0, {
    ...{ function: "test.ping", maxrunning: 1, name: "b", enabled: true, jid_include: true, after: "2029-01-01" },
    ...{ once: "<date>", once_fmt: "%Y-%m-%dT%H:%M:%S", until: "2031-01-01", run_after_skip_range: true },
    skip_during_range: { start: "2pm", end: "3pm" },
  }],
};

/** What our answers say besides, by case and step: why a job did not run. */
const MORE: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  "why a job does not run 2": { _skip_reason: "in_skip_range" },
  "why a job does not run 3": { _skip_reason: "until_passed" },
  "why a job does not run 4": { _skip_reason: "after_not_passed" },
};

/** Keys that differ each time: only their kinds of values are compared. */
const KINDS = ["pid", "__pub_pid", "start_time", "duration"];
/** Keys of events that are not compared. */
const VOLATILE = ["_stamp", "cmd", "tok", "ts", "nonce", "sig"];
/** Time in which an event that must not come would come, in milliseconds. */
const QUIET_MS = 300;
/** Time in which a repeated step has its answer, in milliseconds: a wrong one must not hold up the test. */
const REPEATED_MS = 15_000;

/** The events of a bus, from when it was opened. */
class Heard {
  readonly events: BusEvent[] = [];

  constructor(readonly subscriber: EventSubscriber) {
    void (async () => {
      for (let event; (event = await subscriber.next()) !== undefined;) this.events.push(event);
    })();
  }

  matching({ tags, where = {} }: Wanted, from = 0): BusEvent[] {
    return this.events.slice(from).filter(({ tag, data }) =>
      tags.some((glob) => matchesGlob(glob, tag)) &&
      Object.entries(where).every(([key, value]) => dumpJson(data.get(key) ?? null) === dumpJson(toValue(value)))
    );
  }
}

/** One scene on our master. */
class Stage {
  readonly #local = new Map<string, Heard>();

  constructor(
    readonly fleet: Fleet,
    readonly heard: Heard,
    readonly minions: Scene["minions"],
    readonly root: string,
  ) {}

  close(): void {
    for (const { subscriber } of this.#local.values()) subscriber.close();
  }

  async play({ name, before = [], steps, answers, mute = [], drop = [], types = [] }: Case): Promise<void> {
    for (const [word, ...rest] of before) await this.#step(String(word), rest);
    for (const [i, [word, ...rest]] of steps.entries()) {
      const key = `${name} ${i}`;
      const expected = Object.hasOwn(OTHERS, key) ? OTHERS[key] : withMore(answers[i], MORE[key]);
      const compare = async () => {
        const answer = await this.#step(String(word).replace("~", ""), rest);
        if (expected === null || mute.includes(i)) return true;
        if (JSON.stringify(expected).includes("Traceback ..")) assert(Array.isArray(answer) && answer[0] === 1);
        else {
          const what = `${key}: ${JSON.stringify(steps[i])}`;
          assertEquals(plain(answer, drop, types), plain(expected, drop, types), what);
        }
        return true;
      };
      if (String(word).startsWith("~")) {
        await eventually(compare, { what: `the answer of ${key}`, withinMs: REPEATED_MS });
      } else await compare();
    }
  }

  async #step(word: string, rest: readonly Json[]): Promise<Json> {
    const words = rest.map((each) => typeof each === "string" ? this.#path(each) : JSON.stringify(each));
    switch (word) {
      case "salt": {
        const { code, out, err } = await this.fleet.salt("--static", "--out=json", ...words);
        assert(out !== "", err);
        return [code, JSON.parse(out)[words[0]]];
      }
      case "yaml":
        return jobsOf(words[0]);
      case "write":
        Deno.mkdirSync(words[0].slice(0, words[0].lastIndexOf("/")), { recursive: true });
        Deno.writeTextFileSync(words[0], String(rest[1]));
        return null;
      case "sh":
        return (await run(["sh", "-c", words[0]])).out;
      case "sleep":
        await new Promise((resolve) => setTimeout(resolve, Number(rest[0]) * 1000));
        return null;
      case "minion":
        await this.fleet.stopMinion(words[0]);
        await this.fleet.startMinion(words[0], this.minions[words[0]]);
        return null;
      case "listen":
        this.#local.set(
          "",
          new Heard(
            await EventSubscriber.connect(minionBus(this.fleet.minionOpts(words[0], this.minions[words[0]])).pub, [""]),
          ),
        );
        return null;
      case "heard":
        return await this.#events(rest[0] as unknown as Wanted, this.#local.get("") ?? this.heard);
      case "events":
        return await this.#events(rest[0] as unknown as Wanted, this.heard);
      default:
        throw new Error(`a step ${word}`);
    }
  }

  async #events(wanted: Wanted, heard: Heard): Promise<Json> {
    const { n = 0, count, first, of, data_only, tags_only } = wanted;
    const withinMs = count === undefined || n > 1 ? undefined : QUIET_MS;
    try {
      await eventually(() => heard.matching(wanted).length >= (first ?? n), {
        what: `${n} of ${wanted.tags}`,
        withinMs,
      });
    } catch (error) {
      if (withinMs === undefined) throw error;
    }
    const found = heard.matching(wanted);
    if (count !== undefined) return found.length >= count ? `${count} or more` : found.length;
    const shown = found.slice(0, first ?? found.length).map(({ tag, data }): Json => {
      const all = JSON.parse(dumpJson(data)) as Record<string, Json>;
      const keys = (of ?? Object.keys(all)).filter((key) => key in all && !VOLATILE.includes(key));
      const kept = Object.fromEntries(keys.map((key) => [key, all[key]]));
      return tags_only ? tag : data_only ? kept : [tag, kept];
    });
    return shown;
  }

  /** A text with the directories of this fleet. */
  #path(text: string): string {
    return text.replaceAll("@CONF m1@", this.fleet.minionConfigDir("m1"))
      .replaceAll("minions/m1/etc/salt", this.fleet.minionConfigDir("m1"))
      .replace(/^srv\//, `${this.root}/srv/`);
  }
}

/** What a file of Salt's says of the jobs of an operator; Salt also writes its own job, and what it has in memory. */
function jobsOf(path: string): Json {
  if (!exists(path)) return { schedule: {} };
  const file = JSON.parse(dumpJson(loadYaml(Deno.readTextFileSync(path), path))) as Record<string, Json>;
  return { schedule: file.schedule };
}

/** An answer of `salt` whose map has more keys. */
function withMore(answer: Json, more: Readonly<Record<string, Json>> | undefined): Json {
  if (more === undefined) return answer;
  assert(Array.isArray(answer) && typeof answer[1] === "object");
  return [answer[0], { ...answer[1], ...more }];
}

/** An answer with what differs each time made equal. */
function plain(answer: Json, drop: readonly string[], types: readonly string[], key = ""): Json {
  if (key === "__mine_interval" || drop.includes(key)) return null;
  if ([...KINDS, ...types].includes(key)) return "a kind";
  if (typeof answer === "string") {
    return answer.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/g, "<date>").replace(/^\S+_master$/, "<host>_master");
  }
  if (Array.isArray(answer)) return answer.map((each) => plain(each, drop, types));
  if (answer === null || typeof answer !== "object") return answer;
  const kept = Object.entries(answer).filter(([name, value]) =>
    !drop.includes(name) && name !== "__mine_interval" && !(name === "splay" && value === null)
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, plain(value, drop, types, name)]));
}

for (const [name, scene] of Object.entries(scenes)) {
  Deno.test(`recorded: ${name}`, (test) =>
    withTemporaryDirectory(async (root) => {
      const roots = { pillar_roots: { base: [`${root}/srv/pillar`] } };
      await using fleet = await startFleet({ master: { ...roots, ...scene.master } });
      using subscriber = await EventSubscriber.connect(masterBus(fleet.masterOpts.sock_dir).pub, [""]);
      const stage = new Stage(fleet, new Heard(subscriber), scene.minions, root);
      const ids = Object.keys(scene.minions);
      await fleet.untilServing(ids, () => Promise.all(ids.map((id) => fleet.startMinion(id, scene.minions[id]))));
      for (const each of scene.cases) {
        // Each case begins with what the one before has left.
        if (!await test.step(each.name, () => stage.play(each))) break;
      }
      stage.close();
    }));
}
