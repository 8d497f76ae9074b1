/**
 * Syndics between masters of both implementations. Salt 3008's own syndic hardly works, and is not among them.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { dumpJson } from "#lib/values/json.ts";
import { toValue } from "#lib/values/value.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";

/** A top, and a master below it with a minion and the syndic. */
async function proveSyndic({ top, below }: { readonly top: Salt; readonly below: Salt }): Promise<void> {
  await using high = new Site("order_masters: true\nsyndic_wait: 5\n");
  await using low = new Site();
  await high.explain(() =>
    low.explain(async () => {
      await Promise.all([high.startMaster(top), low.startMaster(below)]);
      low.startMinion(below, "web1");
      await low.keyComes("web1", "minions_pre");
      await low.operate("salt-key", ["-y", "-a", "web1"]);
      await low.answers("web1");
      low.startSyndic(below, "s1", high);
      await high.keyComes("s1", "minions_pre");
      await high.operate("salt-key", ["-y", "-a", "s1"]);
      await high.answers("web1");
      assertEquals(await high.salt(["-t", "20", "web1", "test.echo", "hello"]), { web1: "hello" });
      const jid = await high.publish(["web1", "test.echo", "once"]);
      const asked = () => high.saltRun(["jobs.lookup_jid", jid]);
      await eventually(async () => dumpJson(toValue(await asked())) === '{"web1": "once"}', {
        what: "the return at the top",
      });
      assertEquals(await low.saltRun(["jobs.lookup_jid", jid]), { web1: "once" });
    })
  );
}

for (const version of ["3006.28", "3007.15"]) {
  await testWithPython(version, "a syndic and a master of {} below our master", (python) => {
    return proveSyndic({ top: OURS, below: python });
  });
}
for (const version of ["3006.28", "3007.15", "3008.3"]) {
  await testWithPython(version, "our syndic and master below a master of {}", (python) => {
    return proveSyndic({ top: python, below: OURS });
  });
}
