/**
 * The reactor of a minion: events of its bus start its own functions.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { fireEvent } from "#lib/bus/fire.ts";
import { minionBus } from "#lib/bus/paths.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { CommandError } from "#lib/errors.ts";
import { MinionReactor } from "#lib/minion/agent/minion_reactor.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a minion with engines: [reactor] runs caller reactions of its own events; what is broken is named, the others run", () =>
  withTemporaryDirectory(async (root) => {
    const note = `a:\n  caller.file.write:\n    - args: [${root}/{{ data.name }}, {{ tag }}]\n`;
    const files: Record<string, string> = {
      "note.sls": note,
      "kwargs.sls":
        `b:\n  caller.file.write:\n    - args:\n      - path: ${root}/kwargs\n      - args: "{{ grains.id }}"\n`,
      "broken.sls": "c:\n  caller.test.ping: [\n",
      "master.sls": "d:\n  local.test.ping:\n    - tgt: web1\n",
      "fails.sls": "e:\n  caller.test.exception:\n    - args: [no reason]\n",
      "again.sls": "f:\n  caller.event.fire:\n    - args: [{n: 1}, t/again]\n",
    };
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/${name}`, text);
    const map_ = `${root}/map.yaml`;
    Deno.writeTextFileSync(map_, JSON.stringify([{ "t/none": `${root}/note.sls` }]));
    await using fleet = await startFleet({
      minions: ["web1"],
      minion: { engines: [{ reactor: { worker_threads: 2 } }], reactor: map_, reactor_limits: { "t/again": 3 } },
    });
    const bus = minionBus(fleet.minionOpts("web1", {
      engines: [{ reactor: { worker_threads: 2 } }],
    }));
    // The map is a file, which is read again.
    Deno.writeTextFileSync(
      map_,
      JSON.stringify([
        "no map",
        { "t/*": [`${root}/broken.sls`, `${root}/master.sls`, `${root}/fails.sls`] },
        { "t/note": `${root}/note.sls` },
        { "t/kwargs": `${root}/kwargs.sls` },
        { "t/again": `${root}/again.sls` },
      ]),
    );
    const text = (name: string) => {
      try {
        return Deno.readTextFileSync(`${root}/${name}`);
      } catch {
        return "";
      }
    };
    assert(await fireEvent(bus, "t/again", map({ n: 1 })));
    assert(await fireEvent(bus, "t/note", map({ name: "noted" })));
    assert(await fireEvent(bus, "t/kwargs", map({})));
    await eventually(() => text("noted").includes("t/note"), { what: "the reaction" });
    await eventually(() => text("kwargs").includes("web1"), { what: "the reaction with keywords" });
    const has = (part: string) => fleet.logs.some((line) => line.includes(part));
    for (
      const part of [
        `${map_}:1: it is no map of a tag`,
        `${root}/broken.sls:`,
        `${root}/master.sls: Reactor 'd': local.test.ping cannot run on a minion, only caller.FUNCTION`,
        `${root}/fails.sls: Reactor 'e' failed to execute test.exception`,
        "too many events t/again",
      ]
    ) {
      await eventually(() => has(part), { what: part });
    }
    const explained = await fleet.saltJson("web1", "reactor.explain", "t/x", "{name: y}", `[${root}/note.sls]`);
    const said = isMap(explained) ? explained.get("web1") : undefined;
    const reactions = isMap(said) ? said.get("reactions") : undefined;
    assert(Array.isArray(reactions) && isMap(reactions[0]));
    assertEquals([reactions[0].get("call"), reactions[0].get("args")], ["caller.file.write", [`${root}/y`, "t/x"]]);
    assertEquals(text("y"), "");
  }));

/** A reactor of one function at once and two waiting events, whose calls end as the test says. */
function openReactor(option: Value, limits: ValueMap = new Map()) {
  const { log, lines } = memoryLog();
  const calls: { readonly fun: string; readonly args: readonly Value[]; readonly end: PromiseWithResolvers<Value> }[] =
    [];
  const engines = [map({ reactor: { worker_threads: 1, worker_hwm: 2 } })];
  const opts = { engines, reactor: option, reactor_limits: limits, configFiles: [] } as unknown as MinionOpts;
  const reactor = MinionReactor.open({
    opts,
    log,
    call: (fun, args) => {
      const end = Promise.withResolvers<Value>();
      calls.push({ fun, args, end });
      return end.promise;
    },
  });
  assert(reactor !== undefined);
  /** Gives it these events, as the bus does. */
  const give = (...tags: string[]) => {
    const events = tags.map((tag): BusEvent => ({ tag, data: map({}) }));
    return reactor.read({ next: () => Promise.resolve(events.shift()) });
  };
  const asked = async (n: number) => await eventually(() => calls[n], { what: `call ${n}` });
  return { reactor, lines, calls, give, asked };
}

const REACTS = [map({ "t/*": "/a.sls" })];
const SAID = map({ reactions: [map({ call: "caller.test.ping", id: "a", file: "/a.sls" })], mistakes: [] });

Deno.test("events beyond worker_hwm are dropped, and counted in the log", async () => {
  const { reactor, lines, calls, give, asked } = openReactor(REACTS);
  await give("t/1", "t/2", "t/3", "t/4", "t/5", "other");
  assertEquals(reactor.describe(), "Reactor: 2 events waiting, 0 functions running, 2 dropped");
  assertEquals(lines, ["ERROR The reactor drops events: 2 wait (worker_hwm)"]);
  for (let n = 0; n < 3; n++) (await asked(n)).end.resolve(map({ reactions: [], mistakes: [] }));
  await eventually(() => lines.length === 2, { what: "the number" });
  assertEquals(lines[1], "WARNING The reactor has dropped 2 events");
  assertEquals(calls.map(({ fun, args }) => [fun, args[0]]), [
    ["reactor.explain", "t/1"],
    ["reactor.explain", "t/2"],
    ["reactor.explain", "t/3"],
  ]);
  reactor.close();
});

Deno.test("an event whose files cannot be rendered, and one beyond reactor_limits, are named; the next one is taken", async () => {
  const { reactor, lines, give, asked } = openReactor(REACTS, map({ "t/much": 1 }));
  await give("t/1", "t/much", "t/much", "t/much");
  (await asked(0)).end.reject(new CommandError("no process"));
  (await asked(1)).end.resolve(map({ reactions: [], mistakes: ["/a.sls:3: wrong"] }));
  await eventually(() => lines.length === 3, { what: "the lines" });
  assertEquals(lines, [
    "ERROR The reactor: too many events t/much: further ones start nothing in this minute (reactor_limits)",
    "ERROR The reactor: the event t/1: no process",
    "ERROR The reactor: /a.sls:3: wrong",
  ]);
  reactor.close();
});

Deno.test("at the end a reactor starts no function that waits, and takes no event", async () => {
  const { reactor, lines, calls, give, asked } = openReactor(REACTS);
  await give("t/1", "t/2");
  (await asked(0)).end.resolve(SAID);
  assertEquals((await asked(1)).fun, "test.ping");
  (await asked(2)).end.resolve(SAID);
  // The function of the second event waits for the first one's.
  await new Promise((resolve) => setTimeout(resolve, 20));
  reactor.close();
  calls[1].end.reject(new CommandError("it ends"));
  await give("t/3");
  await eventually(() => lines.some((line) => line.includes("failed to execute test.ping: it ends")), {
    what: "the end",
  });
  assertEquals(calls.map(({ fun }) => fun), ["reactor.explain", "test.ping", "reactor.explain"]);
});

Deno.test("a map whose file cannot be read is named, once as long as nothing changes", () =>
  withTemporaryDirectory(async (root) => {
    const { reactor, lines, give } = openReactor(root);
    await give("t/1", "t/2");
    assertEquals(lines.length, 1, lines.join("\n"));
    assert(lines[0].startsWith(`ERROR The reactor: ${root}: `), lines[0]);
    reactor.close();
  }));
