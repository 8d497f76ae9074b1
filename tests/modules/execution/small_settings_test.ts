/**
 * Functions that store a setting: disabled state runs, and the serial numbers of zones.
 * @module
 */

import { callFunction } from "#lib/plugins/execution.ts";
import { strftime } from "#lib/text/strftime.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";

/** A context with grains; grains.setval changes them as the minion does. */
async function withGrains(test: (call: (name: string, ...args: Value[]) => Promise<Value>) => Promise<void>) {
  const root = Deno.makeTempDirSync({ prefix: "small_settings_" });
  try {
    Deno.mkdirSync(`${root}/etc/salt`, { recursive: true });
    const grains: ValueMap = map({ id: "web1" });
    const context = testContext({ opts: testOpts({ root_dir: root }), grains });
    const { call } = context;
    const jobContext = testContext({
      ...context,
      call: (name, args = [], kwargs) => {
        if (name === "grains.setval") grains.set(args[0], args[1]);
        return call(name, args, kwargs);
      },
    });
    await test((name, ...args) => callFunction(name, { args, context: jobContext }));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("state.disable and state.enable report the change of each name, and store it as a grain", async () => {
  await withGrains(async (call) => {
    assertEquals(await call("state.list_disabled"), "");
    assertEquals(
      await call("state.disable", "highstate,bind.config"),
      map({ res: true, msg: "Info: highstate state disabled.\nInfo: bind.config state disabled." }),
    );
    assertEquals(
      await call("state.disable", ["highstate", "x"]),
      map({ res: true, msg: "Info: highstate state already disabled.\nInfo: x state disabled." }),
    );
    assertEquals(await call("state.list_disabled"), ["highstate", "bind.config", "x"]);
    assertEquals(
      await call("state.enable", "highstate,y"),
      map({ res: true, msg: "Info: highstate state enabled.\nInfo: y state already enabled." }),
    );
    assertEquals(await call("state.list_disabled"), ["bind.config", "x"]);
  });
});

Deno.test("dnsutil.serial is the date with a counter, which continues", async () => {
  await withGrains(async (call) => {
    const today = strftime(new Date(), "%Y%m%d01");
    assertEquals(await call("dnsutil.serial", "example.com"), today);
    assertEquals(await call("dnsutil.serial", "example.com", true), today);
    assertEquals(await call("dnsutil.serial", "example.com", true), String(Number(today) + 1));
    assertEquals(await call("dnsutil.serial", "example.com"), String(Number(today) + 1));
    assertEquals(await call("dnsutil.serial"), today, "another zone has another number");
    await call("grains.setval", "dnsserial", "2000010177");
    assertEquals(await call("dnsutil.serial", "", true), today, "a number of an earlier day is left behind");
  });
});
