/**
 * Recorded answers of `salt-run state.orchestrate` of Python Salt 3008.3 (recorded/orchestrate.json), asked of a master
 * of ours with two minions. They were made with live masters and minions of that version, on Linux as root. Job ids,
 * dates, paths, host names and durations are made equal; `null`: not compared. A new case is a line in that file.
 * @module
 */

import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Case {
  readonly name: string;
  readonly steps: readonly (readonly Json[])[];
  readonly answers: readonly Json[];
  /** The steps that are not compared. */
  readonly mute?: readonly number[];
  /** Keys that are not compared. */
  readonly drop?: readonly string[];
}

interface Scene {
  readonly minions: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly files: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
}

interface Wanted {
  readonly tags: readonly string[];
  readonly of?: readonly string[];
}

const FILE = new URL("./recorded/orchestrate.json", import.meta.url);
const { orchestrate: SCENE } = (JSON.parse(Deno.readTextFileSync(FILE)) as { scenes: Record<string, Scene> }).scenes;

/** Keys of events that differ each time. */
const VOLATILE = new Set(["_stamp", "jid", "tok", "ts", "nonce", "sig", "cmd"]);
/** Keys of which only the type is compared. */
const TYPES: Readonly<Record<string, string>> = { __jid__: "str", start_time: "str", duration: "float" };
/** Time without an event after which all have come, in milliseconds. */
const QUIET_MS = 300;

/** What our comments say beyond Salt's (docs/differences.md). */
const ADDED: readonly RegExp[] = [
  /(?<=No minions returned|No minions responded): no minion matches [^"]*/g,
  /\\nMinion m\d returned False\./g,
  /\\nReturn code of m\d: \d+/g,
];

/** What differs from run to run, made equal. */
function normalized(json: string, fleet: Fleet, drop: readonly string[] = []): Json {
  const text = json.replaceAll(fleet.root, "<root>").replaceAll(fleet.masterOpts.id, "<host>_master")
    .replaceAll(/\b\d{20}\b/g, "<jid>").replaceAll(/in \d+(\.\d+)? seconds/g, "in <n> seconds")
    .replaceAll("m2, m1", "m1, m2");
  return JSON.parse(text, (key, value) => drop.includes(key) ? undefined : TYPES[key] ?? value);
}

/** The events since the case began. */
async function eventsOf(events: EventSubscriber, seen: Json[], { tags, of }: Wanted, fleet: Fleet): Promise<Json> {
  for (let event = await events.next(QUIET_MS); event !== undefined; event = await events.next(QUIET_MS)) {
    const { tag, data } = event;
    const all = JSON.parse(dumpJson(data)) as Record<string, Json>;
    seen.push([tag, all]);
  }
  const shown = (seen as [string, Record<string, Json>][]).filter(([tag]) =>
    tags.some((glob) => matchesGlob(glob, tag))
  )
    .map(([tag, all]) => {
      const keys = of ?? Object.keys(all).filter((key) => !VOLATILE.has(key));
      return [tag, Object.fromEntries(keys.filter((key) => key in all).map((key) => [key, all[key]]))];
    });
  return normalized(JSON.stringify(shown), fleet);
}

async function play({ steps, answers, mute = [], drop = [] }: Case, fleet: Fleet): Promise<void> {
  using events = await EventSubscriber.connect(masterBus(fleet.masterOpts.sock_dir).pub, [
    "out/",
    "salt/run/",
    "salt/state_result/",
  ]);
  const seen: Json[] = [];
  const later: Promise<void>[] = [];
  for (const [i, [word, ...rest]] of steps.entries()) {
    let answer: Json = null;
    if (word === "run") {
      const { code, out } = await fleet.saltRun(...rest.map(String), "--out=json");
      const shown = mute.includes(i) ? "null" : out;
      answer = [code, normalized(ADDED.reduce((text, added) => text.replaceAll(added, ""), shown), fleet, drop)];
    } else if (word === "events") answer = await eventsOf(events, seen, rest[0] as unknown as Wanted, fleet);
    else if (word === "later") later.push(fireLater(rest, fleet));
    else throw new Error(`a step ${word}`);
    if (answers[i] === null || mute.includes(i)) continue;
    const expected = normalized(JSON.stringify(answers[i]), fleet, drop);
    assertEquals(answer, expected, `step ${i}: ${JSON.stringify(steps[i])}`);
  }
  await Promise.all(later);
}

async function fireLater([seconds, tag, data]: readonly Json[], fleet: Fleet): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
  await fleet.fire(String(tag), map(data as Record<string, string>));
}

Deno.test("recorded: state.orchestrate", async (test) => {
  await using fleet = await startFleet({
    master: { timeout: 20, gather_job_timeout: 5, fileserver_list_cache_time: 0 },
  });
  const minions = Object.entries(SCENE.minions);
  const start = () => Promise.all(minions.map(([id, options]) => fleet.startMinion(id, options)));
  await fleet.untilServing(minions.map(([id]) => id), start);
  for (const [path, text] of Object.entries(SCENE.files)) {
    const to = `${fleet.root}/srv/${path.replace(/^srv\/salt\//, "")}`;
    Deno.mkdirSync(to.slice(0, to.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(to, text);
  }
  for (const each of SCENE.cases) await test.step(each.name, () => play(each, fleet));
});
