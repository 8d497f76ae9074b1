/**
 * What passes between real masters over one database: a job of one reaches the minions of the other, and its returns,
 * events and presence come back.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Fleet } from "#tests/support/fleet/fleet.ts";
import { answerOf, clusterTest } from "#tests/support/cluster/cluster_site.ts";

/** Each master has the keys of both. */
function shareKeys(...masters: readonly Fleet[]): void {
  for (const from of masters) {
    for (const id of from.keys.list("accepted")) {
      for (const to of masters.filter((fleet) => fleet !== from)) {
        Deno.copyFileSync(`${from.masterOpts.pki_dir}/minions/${id}`, `${to.masterOpts.pki_dir}/minions/${id}`);
      }
    }
  }
}

clusterTest(
  "a job published at either master reaches the minions of both, and each prints all returns",
  {},
  async ({ masters: [a, b] }) => {
    await a.untilServing(["web1"], () => a.startMinion("web1"));
    await b.untilServing(["web2"], () => b.startMinion("web2", { master: "127.0.0.2" }));
    shareKeys(a, b);
    for (const fleet of [a, b]) {
      assertEquals(await fleet.saltJson("*", "test.echo", "hello"), map({ web1: "hello", web2: "hello" }));
      await eventually(async () => String(await answerOf(fleet, "manage.present")) === "web1,web2", {
        what: "both are present",
      });
    }
    const { out } = await a.salt("web2", "test.ping", "--out=txt");
    assertStringIncludes(out, "web2: True");
  },
);
