/**
 * The module `beacons`: what it refuses, `test=True`, what it saves, and one look of a beacon. The minion that answers
 * is the configuration of a real one, without its bus and its threads.
 * @module
 */

import { MinionBeacons } from "#lib/minion/beacons/minion_beacons.ts";
import type { Outside } from "#lib/plugins/job_context.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

type Plain = Readonly<Record<string, unknown>>;
type Call = (fun: string, args?: readonly unknown[], kwargs?: Plain) => Promise<unknown>;

const PS = [{ processes: { "nobody-has-this": "stopped" } }];
const CONFIGURED = {
  ps: PS,
  other: [{ beacon_module: "ps" }, ...PS],
  twice: [{ beacon_module: "ps" }, { enabled: true }, ...PS, { enabled: true }],
};
const PILLAR = { pillars: [{ beacon_module: "ps" }, ...PS] };

/** Runs a test with a minion that has these beacons. */
function withMinion(
  test: (call: Call, root: string) => Promise<void>,
  more: Readonly<Record<string, Value>> = {},
): Promise<void> {
  return withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root, beacons: map(CONFIGURED), ...more });
    const base = testContext();
    const minion = new MinionBeacons({
      ...{ id: "web1", opts, files: opts, loopMs: 1_000, log: SILENT_LOGGER, beacons: opts.beacons },
      call: () => Promise.reject(new Error("no function is called")),
      fireLocal: () => Promise.resolve(true),
    });
    minion.pillar = map({ beacons: PILLAR });
    const ask: Outside["ask"] = async ({ data }) => (await minion.answering.answer(data))?.data ?? new Map();
    const context = testContext({ opts, outside: { ...base.outside, ask } });
    const call: Call = async (fun, args = [], kwargs = {}) =>
      JSON.parse(dumpJson(await resultOrError(context, `beacons.${fun}`, args.map(toValue), kwargs)));
    try {
      await test(call, root);
    } finally {
      await minion.close();
    }
  });
}

const ok = (comment: string) => ({ comment, result: true });
const no = (comment: string) => ({ comment, result: false });

Deno.test("what cannot be is refused, and the beacons stay", () =>
  withMinion(async (call) => {
    const before = await call("list", [], { return_yaml: false });
    const invalid = "configuration invalid, not modifying.\n";
    const cases: readonly (readonly [fun: string, args: readonly unknown[], answer: unknown])[] = [
      [
        "add",
        ["new", [{ beacon_module: "ps" }, ...PS, { intervall: 5 }]],
        no(
          "Beacon new configuration invalid, not adding.\nThe beacon ps has no option intervall; did you mean interval?",
        ),
      ],
      ["add", ["new", "text"], no('Beacon "new" is not available.')],
      [
        "add",
        ["load", "text"],
        no(
          "Beacon load configuration invalid, not adding.\nConfiguration for load beacon must be a list.",
        ),
      ],
      ["modify", ["none", PS], ok("Beacon none is not configured.")],
      [
        "modify",
        ["ps", [{ processes: 5 }]],
        no(
          `Beacon ps ${invalid}Processes for ps beacon must be a dictionary.`,
        ),
      ],
      ["modify", ["ps", PS], ok("Job ps in correct state")],
      // It would run as the beacon `other`, which does not exist.
      [
        "modify",
        ["other", [{ processes: { x: "stopped" } }]],
        no(
          `Beacon other ${invalid}Beacon "other" is not available.`,
        ),
      ],
      ["delete", ["pillars"], no("Cannot delete beacon item pillars, it is configured in pillar.")],
      ["enable_beacon", [""], no("Beacon name is required.")],
      ["enable_beacon", ["none"], no("Beacon none is not currently configured.")],
      ["disable_beacon", ["pillars"], no("Cannot disable beacon item pillars, it is configured in pillar.")],
      ["disable_beacon", ["twice"], no("Failed to disable beacon twice on minion.")],
    ];
    for (const [fun, args, answer] of cases) assertEquals(await call(fun, args), answer, `${fun} ${args[0]}`);
    const after = await call("list", [], { return_yaml: false }) as Plain;
    assertEquals({ ...after, twice: null }, { ...before as Plain, twice: null });
  }));

Deno.test("with test=True nothing is changed", () =>
  withMinion(async (call) => {
    const before = await call("list", [], { return_yaml: false });
    const cases: readonly (readonly [fun: string, args: readonly unknown[], comment: string])[] = [
      ["enable", [], "Beacons would be enabled."],
      ["disable", [], "Beacons would be disabled."],
      ["reset", [], "Beacons would be reset."],
      ["delete", ["ps"], "Beacon: ps would be deleted."],
    ];
    for (const [fun, args, comment] of cases) assertEquals(await call(fun, args, { test: true }), ok(comment));
    assertEquals(await call("list", [], { return_yaml: false }), before);
  }));

Deno.test("all beacons are disabled and enabled, and removed", () =>
  withMinion(async (call) => {
    const listed = async () => await call("list", [], { return_yaml: false, include_pillar: false }) as Plain;
    assertEquals(await call("disable"), ok("Disabled beacons on minion."));
    assertEquals((await listed()).enabled, false);
    assertEquals(await call("enable"), ok("Enabled beacons on minion."));
    assertEquals((await listed()).enabled, true);
    assertEquals(await call("reset"), ok("Beacon configuration reset."));
    assertEquals(await listed(), {});
  }));

Deno.test("save writes into the directory of default_include, and says if it cannot", () =>
  withTemporaryDirectory(async (other) => {
    const saved = (root: string, include: string) => `${include.startsWith("/") ? "" : `${root}/etc/salt/`}${include}`;
    for (const include of ["minion.d", `${other}/more.d`]) {
      await withMinion(async (call, root) => {
        const path = `${saved(root, include)}/beacons.conf`;
        assertEquals(await call("save"), ok(`Beacons saved to ${path}.`));
        assertStringIncludes(Deno.readTextFileSync(path), "nobody-has-this: stopped");
        assertEquals(Deno.readTextFileSync(path).includes("pillars"), false);
      }, { default_include: `${include}/*.conf` });
    }
    Deno.writeTextFileSync(`${other}/file`, "");
    await withMinion(async (call) => {
      const path = `${other}/file/beacons.conf`;
      assertEquals(await call("save"), no(`Unable to write to beacons file at ${path}. Check permissions.`));
    }, { default_include: `${other}/file/*.conf` });
  }));

Deno.test("beacons.test has the error of a look, and calls the functions of the minion", () =>
  withMinion(async (call) => {
    const disks = await call("test", ["diskusage", [{ "/": "much" }]]) as Plain;
    assertEquals(disks, {
      valid: true,
      comment: "Valid beacon configuration",
      events: [],
      errors: ["/: could not convert string to float: 'much'"],
    });
    const called = await call("test", ["salt_monitor", [{
      salt_fun: [{ "test.echo": { args: ["heard"] } }],
    }]]) as Plain;
    const data = { salt_fun: "test.echo", ret: "heard", args: ["heard"], id: "web1" };
    assertEquals(called.events, [{ tag: "salt/beacon/web1/salt_monitor/", data, beacon_name: "salt_monitor" }]);
  }));

Deno.test("beacons.test listens to a beacon that is told of changes, and has what it fails with", () =>
  withMinion(async (call, root) => {
    const files = { [root]: { mask: ["create"] } };
    const looking = call("test", ["inotify", [{ files }]], { seconds: 0.3 });
    let count = 0;
    const timer = setInterval(() => Deno.writeTextFileSync(`${root}/made${count++}`, ""), 20);
    const heard = await looking as Plain;
    clearInterval(timer);
    const [first] = heard.events as Plain[];
    assertEquals(heard.valid, true);
    assertStringIncludes(dumpJson(toValue(first)), `${root}/made`);
    const broken = { files: { [root]: { recurse: true, exclude: [{ "(": { regex: true } }] } } };
    const failing = await call("test", ["inotify", [broken]], { seconds: 0 }) as Plain;
    assertEquals([failing.valid, failing.events], [true, []]);
    assertStringIncludes(dumpJson(toValue(failing.errors)), "exclude: ");
  }));
