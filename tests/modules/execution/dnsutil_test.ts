import { callFunction } from "#lib/plugins/execution.ts";
import { strftime } from "#lib/text/strftime.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "dnsutil");

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
