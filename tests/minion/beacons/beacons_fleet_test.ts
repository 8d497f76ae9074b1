/**
 * Beacons of a real minion on a real master: what their functions answer, and what the master gets of them. The answers
 * of recorded_3008.json are those of a minion of Salt 3008.3.
 * @module
 */

import { askOnBus } from "#lib/bus/ask.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { minionBus } from "#lib/bus/paths.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";

const RECORDED = asMap(parseJson(Deno.readTextFileSync(new URL("./recorded_3008.json", import.meta.url))));

function asMap(value: Value | undefined): ValueMap {
  assert(isMap(value));
  return value;
}

function asList(value: Value | undefined): Value[] {
  assert(Array.isArray(value));
  return value;
}

/** What `salt m1 …` returns. */
async function call(fleet: Fleet, ...words: string[]): Promise<Value> {
  return asMap(await fleet.saltJson("m1", ...words)).get("m1") ?? null;
}

/** Times and durations differ, and of the type only the name is recorded. */
function comparable(value: Value): Value {
  if (!isMap(value)) return value;
  return new Map(
    [...value].map(([key, item]) =>
      key === "start_time" ? [key, "str"] : key === "duration" ? [key, "float"] : [key, comparable(item)]
    ),
  );
}

async function sayTheSame(fleet: Fleet, cases: Value[]): Promise<void> {
  for (const one of cases) {
    const [words, answer] = asList(one);
    const given = asList(words).map(str);
    const got = comparable(await call(fleet, ...given));
    if (answer === null) continue;
    const wanted = asList(answer)[1];
    if (given[0] === "beacons.save") {
      assertStringIncludes(str(asMap(got).get("comment") ?? null), "minion.d/beacons.conf.");
    } else assertEquals(got, wanted, given.join(" "));
  }
}

/** The next event of a beacon whose tag begins with `tag`. */
async function nextEvent(events: EventSubscriber, tag: string, withinMs = 30_000): Promise<[string, ValueMap]> {
  const event = await events.next(withinMs, (name) => name.startsWith(tag));
  assert(event !== undefined, `no event ${tag} in ${withinMs} ms`);
  const data = new Map(event.data);
  data.delete("_stamp");
  return [event.tag, data];
}

fleetTest("functions and states of beacons answer as Salt's", { minions: ["m1"] }, async (fleet) => {
  await sayTheSame(fleet, asList(RECORDED.get("configurations")));
  await sayTheSame(fleet, asList(RECORDED.get("functions")));
  // A map is a list of one; Salt never answers.
  const config = '{"processes": {"nobody-has-this": "stopped"}, "interval": 60}';
  assertEquals(await call(fleet, "beacons.add", "ps", config), map({ comment: "Added beacon: ps.", result: true }));
  assertEquals(await call(fleet, "beacons.delete", "ps"), map({ comment: "Deleted beacon: ps.", result: true }));
  const misspelt = asMap(await call(fleet, "beacons.add", "ps", '[{"processes": {}}, {"intervall": 5}]'));
  assertStringIncludes(str(misspelt.get("comment") ?? null), "has no option intervall; did you mean interval?");
  const sh = asMap(await call(fleet, "beacons.add", "sh", "[]"));
  assertStringIncludes(str(sh.get("comment") ?? null), 'Beacon "sh" is not available. It attached strace');
  const shown = asMap(await call(fleet, "beacons.test", "ps", '[{"processes": {"nobody-has-this": "stopped"}}]'));
  assertEquals(shown.get("events"), [
    map({ tag: "salt/beacon/m1/ps/", data: map({ "nobody-has-this": "Stopped", id: "m1" }), beacon_name: "ps" }),
  ]);
});

fleetTest("the minion's bus says which beacons there are, and what is valid", { minions: ["m1"] }, async (fleet) => {
  const ask = (data: Record<string, unknown>, answer: string) =>
    askOnBus(minionBus(fleet.minionOpts("m1")), {
      tag: "manage_beacons",
      data: map(data),
      answerTag: `/salt/minion/minion_${answer}_complete`,
    });
  const available = asList((await ask({ func: "list_available" }, "beacons_list_available")).get("beacons"));
  for (const name of ["inotify", "load", "ps"]) assert(available.includes(name), name);
  const validate = async (name: string, beacon_data: unknown) => {
    const answer = await ask({ func: "validate_beacon", name, beacon_data }, "beacon_validation");
    return [answer.get("valid"), answer.get("vcomment")];
  };
  assertEquals(await validate("ps", [{ processes: {} }]), [true, "Valid beacon configuration"]);
  assertEquals(await validate("x", [{ beacon_module: "ps" }]), [
    false,
    "Configuration for ps beacon requires processes.",
  ]);
});

/** Whether `got` has the keys and types of a recorded value, in which some values are names of types. */
function assertLike(got: Value, wanted: Value, place: string): void {
  if (isMap(wanted)) {
    const map = asMap(got);
    assertEquals([...map.keys()].sort(), [...wanted.keys()].sort(), place);
    for (const [key, item] of wanted) assertLike(map.get(key) ?? null, item, `${place}.${str(key)}`);
  } else if (wanted === "float") assert(typeof got === "object" || typeof got === "number", `${place}: ${str(got)}`);
  else if (wanted === "int") assert(typeof got === "number", `${place}: ${str(got)}`);
  else if (wanted === "str") assert(typeof got === "string", `${place}: ${str(got)}`);
  else assertEquals(got, wanted, place);
}

fleetTest("events of beacons have Salt's tags and data", { minions: ["m1"] }, async (fleet) => {
  using events = await fleet.listen("salt/beacon/");
  for (const one of asList(RECORDED.get("events"))) {
    const name = str(asMap(one).get("name") ?? null);
    const words = asList(asMap(one).get("add")).map((word) => str(word).replaceAll("@ROOT@", fleet.root));
    if (name.startsWith("log")) Deno.writeTextFileSync(`${fleet.root}/bad.log`, "x\n");
    await call(fleet, "beacons.add", ...words);
    for (const event of asList(asMap(one).get("events"))) {
      const [tag, data] = asList(event);
      const [gotTag, got] = await nextEvent(events, `salt/beacon/m1/${words[0]}/`);
      if (tag !== "*") assertEquals(gotTag, tag);
      assertLike(got, data, name);
    }
    await call(fleet, "beacons.delete", words[0]);
  }
});

const ERRORS = {
  beacons: {
    broken: 5,
    text: "often",
    items: [{ interval: 1 }, "often"],
    never: [{ beacon_module: "ps" }, { processes: {} }, { interval: "never" }],
    minus: [{ beacon_module: "ps" }, { processes: { "nobody-has-this": "stopped" } }, { interval: -1 }],
    zero: [{ beacon_module: "ps" }, { processes: { "nobody-has-this": "stopped" } }, { interval: 0 }],
    empty: [{ beacon_module: "load" }],
    masks: [{ beacon_module: "inotify" }, { files: { "/tmp": { mask: ["all"] } } }],
    pattern: [{ beacon_module: "log" }, { file: "@ROOT@/x.log" }, { tags: { bad: { regex: "([" } } }],
    gone: [{ beacon_module: "log" }, { file: "@ROOT@/none/x.log" }, { tags: {} }],
    disks: [{ beacon_module: "diskusage" }, { "/": "much" }],
    nosuch: [{ interval: 1 }],
    load: [{ averages: { "1m": [0, -1] } }],
    lost: [{ beacon_module: "salt_monitor" }, { salt_fun: "no.such" }, { interval: "1s" }],
    watch: [{ beacon_module: "inotify" }, { files: { "@ROOT@/watched": { recurse: true, auto_add: true } } }],
  },
};

fleetTest("a broken beacon stops no other, and is named once", { minions: [] }, async (fleet) => {
  Deno.mkdirSync(`${fleet.root}/watched`);
  const configured = JSON.parse(JSON.stringify(ERRORS).replaceAll("@ROOT@", fleet.root));
  using events = await fleet.listen("salt/beacon/");
  await fleet.untilServing(["m1"], () => fleet.startMinion("m1", configured));
  using own = await EventSubscriber.connect(minionBus(fleet.minionOpts("m1", configured)).pub, ["__beacons_return"]);
  const [, load] = await nextEvent(events, "salt/beacon/m1/load/");
  assertEquals([...load.keys()], ["1m", "5m", "15m", "id"]);
  assertEquals([...(await own.next(10_000))?.data.keys() ?? []].at(0), "beacons");
  const [, lost] = await nextEvent(events, "salt/beacon/m1/lost/");
  assertStringIncludes(str(lost.get("error") ?? null), "no.such");
  Deno.mkdirSync(`${fleet.root}/watched/a/b`, { recursive: true });
  Deno.writeTextFileSync(`${fleet.root}/watched/a/b/file`, "x");
  const path = `${fleet.root}/watched/a/b/file`;
  let seen: Value | undefined;
  for (let i = 0; i < 10 && seen !== path; i++) {
    seen = (await nextEvent(events, "salt/beacon/m1/watch/"))[1].get("path");
  }
  assertEquals(seen, path);
  const named = (text: string) => fleet.logs.filter((line) => line.includes(text)).length;
  assertEquals(named("Configuration for broken beacon must be a list."), 1);
  assertEquals(named('Beacon "nosuch" is not available.'), 1);
  const reasons = [
    "Configuration for text beacon must be a list.",
    "Configuration for items beacon must be a list.",
    "Beacon never configuration invalid, not running.",
    "Beacon minus: interval -1 is not above 0",
    "Beacon zero: interval 0 is not above 0",
    "Averages configuration is required for load beacon.",
    "Configuration for inotify beacon invalid mask option all.",
    "Beacon gone failed: ",
    "Beacon disks failed: /: could not convert string to float: 'much'",
  ];
  for (const reason of reasons) assert(named(reason) >= 1, reason);
  for (const name of ["minus", "zero"]) await nextEvent(events, `salt/beacon/m1/${name}/`);
});
