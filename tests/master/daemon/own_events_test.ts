/**
 * The events that a fleet fires by itself: their tags and the keys of their data are Salt's.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** What minions' requests have besides. */
const LOAD = ["cmd", "id", "ts"];
const PUBLISHED = ["arg", "fun", "jid", "minions", "missing", "tgt", "tgt_type", "user"];

interface Row {
  /** `<jid>` stands for a job's id. */
  readonly tag: string;
  readonly keys: readonly string[];
  /** Keys that may be there. */
  readonly more?: readonly string[];
  /** The keys of a map in the data, by its key. */
  readonly inner?: Readonly<Record<string, readonly string[]>>;
}

const ROWS: readonly Row[] = [
  { tag: "minion_start", keys: [...LOAD, "data", "pretag", "tag"], more: ["grains"] },
  { tag: "salt/minion/web1/start", keys: [...LOAD, "data", "grains", "pretag", "tag"] },
  { tag: "minion/refresh/web1", keys: ["Minion data cache refresh"] },
  { tag: "salt/auth", keys: ["act", "id", "pub", "result"] },
  { tag: "salt/key", keys: ["act", "id", "result"], more: ["pub"] },
  { tag: "key", keys: ["rotate_aes_key"] },
  { tag: "salt/presence/present", keys: ["present"] },
  { tag: "salt/presence/change", keys: ["lost", "new"] },
  { tag: "salt/job/<jid>/new", keys: PUBLISHED },
  {
    tag: "salt/job/<jid>/publish",
    keys: ["arg", "fun", "jid", "ret", "tgt", "tgt_type", "user"],
    more: ["kwargs", "id", "job_ttl", "metadata", "_job_ttl", "start_event", "no_parse"],
  },
  { tag: "salt/job/<jid>/start/web1", keys: [...LOAD, "data", "tag"], more: ["pretag"] },
  {
    tag: "salt/job/<jid>/ret/web1",
    keys: ["cmd", "fun", "fun_args", "id", "jid", "retcode", "return", "success"],
    more: ["out", "ts", "user", "tgt", "tgt_type", "metadata"],
  },
  {
    tag: "salt/job/<jid>/sub/web1/error/state.sls",
    keys: [
      ...["__id__", "__run_num__", "__sls__", "changes", "comment", "duration", "fun", "id", "jid", "name", "result"],
      ...["retcode", "return", "start_time", "success"],
    ],
    more: ["user", "__state_ran__", "warnings"],
  },
  {
    tag: "salt/state_result/<jid>/web1/told",
    keys: [...LOAD, "data", "jid", "tag"],
    more: ["pretag"],
    inner: { data: ["ret"] },
  },
  {
    tag: "salt/job/<jid>/prog/web1/1",
    keys: [...LOAD, "data", "jid", "tag"],
    more: ["pretag"],
    inner: { data: ["len", "ret"] },
  },
  { tag: "salt/run/<jid>/new", keys: ["fun", "fun_args", "jid", "user"] },
  { tag: "salt/run/<jid>/ret", keys: ["fun", "fun_args", "jid", "return", "success", "user"], more: ["retcode"] },
  { tag: "salt/run/<jid>/args", keys: ["args", "name", "tgt", "type"], more: ["kwargs"] },
  { tag: "salt/wheel/<jid>/new", keys: ["fun", "fun_args", "jid", "user"] },
  { tag: "salt/wheel/<jid>/ret", keys: ["fun", "fun_args", "jid", "return", "success", "user"], more: ["retcode"] },
  { tag: "salt/beacon/web1/memusage/", keys: ["id", "memusage"] },
  {
    tag: "own/sent",
    keys: [...LOAD, "data", "pretag", "tag"],
    inner: {
      data: [
        ...["__pub_arg", "__pub_fun", "__pub_jid", "__pub_ret", "__pub_tgt", "__pub_tgt_type", "__pub_user", "word"],
      ],
    },
  },
  { tag: "own/fired", keys: [...LOAD, "data", "pretag", "tag"], inner: { data: ["word"] } },
  { tag: "own/run", keys: ["word"] },
];

const SLS = "told:\n  test.succeed_without_changes:\n    - fire_event: true\nfails:\n  test.fail_without_changes: []\n";
const ORCHESTRATION = "asks:\n  salt.function:\n    - name: test.ping\n    - tgt: web1\n";
const REACTION = "turns:\n  wheel.key.list_all: []\n";

function keysOf(value: Value): string[] {
  return isMap(value) ? [...value.keys()].map(str).filter((key) => key !== "_stamp").sort() : [];
}

/** What is wrong with an event's keys; undefined: nothing. */
function wrong({ keys, more = [], inner = {} }: Row, { data }: BusEvent): string | undefined {
  const missing = keys.filter((key) => !data.has(key));
  const other = keysOf(data).filter((key) => !keys.includes(key) && !more.includes(key));
  const below = Object.entries(inner).flatMap(([key, wanted]) => {
    const found = keysOf(data.get(key) ?? null);
    return found.join() === [...wanted].sort().join() ? [] : [`${key} has ${found}`];
  });
  const all = [...missing.map((key) => `no ${key}`), ...other.map((key) => `also ${key}`), ...below];
  return all.length === 0 ? undefined : all.join(", ");
}

Deno.test("the events that a fleet fires by itself have Salt's tags, and data with Salt's keys", (test) =>
  withTemporaryDirectory(async (files) => {
    Deno.writeTextFileSync(`${files}/wheel.sls`, REACTION);
    await using fleet = await startFleet({
      master: {
        reactor: [{ "own/run": `${files}/wheel.sls` }],
        presence_events: true,
        loop_interval: 0.5,
        ping_on_rotate: false,
      },
      minion: {
        ...{ enable_legacy_startup_events: true, start_event_grains: ["id"], state_events: true },
        beacons: { memusage: [{ percent: 0 }, { interval: "1s" }] },
      },
    });
    Deno.mkdirSync(`${fleet.root}/srv`, { recursive: true });
    Deno.writeTextFileSync(`${fleet.root}/srv/told.sls`, SLS);
    Deno.writeTextFileSync(`${fleet.root}/srv/asks.sls`, ORCHESTRATION);
    const heard: BusEvent[] = [];
    using events = await fleet.listen("");
    void (async () => {
      for (let event = await events.next(); event !== undefined; event = await events.next()) heard.push(event);
    })();
    await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
    await fleet.salt("web1", "test.arg", "x", "--start-event");
    await fleet.salt("web1", "state.sls", "told");
    await fleet.salt("web1", "event.send", "own/sent", "{word: x}");
    await fleet.salt("web1", "event.fire_master", "{word: x}", "own/fired");
    await fleet.saltRun("event.send", "own/run", "{word: x}");
    await fleet.saltRun("state.orchestrate", "asks");
    await fleet.saltRun("salt.cmd", "test.ping");
    await eventually(() => heard.some(({ tag }) => tag === "salt/beacon/web1/memusage/"), { what: "the beacon" });
    await fleet.stopMinion("web1");
    await fleet.saltKey("-y", "-d", "web1");
    const named = (event: BusEvent) => event.tag.replace(/\/\d{20}(?=\/)/, "/<jid>");
    for (const row of ROWS) {
      await test.step(row.tag, async () => {
        const found = await eventually(() => heard.find((event) => named(event) === row.tag), {
          what: `the event ${row.tag}; there were ${[...new Set(heard.map(named))].sort().join(" ")}`,
          withinMs: 5_000,
        });
        assertEquals(wrong(row, found), undefined, JSON.stringify(keysOf(found.data)));
      });
    }
    assert(heard.length > ROWS.length);
  }));
