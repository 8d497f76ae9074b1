import { strftime } from "#lib/text/strftime.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withGrains } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "dnsutil");

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
