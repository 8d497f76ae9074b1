/**
 * A minion that has signed in at one master is known at the others.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { clusterTest } from "#tests/support/cluster/cluster_site.ts";
import { scripted } from "#tests/support/fleet/master_requests.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";

clusterTest(
  "a minion signs in at one master, and another answers its request; without an accepted key none does",
  {},
  async (
    { masters: [a, b] },
  ) => {
    const key = await testKey("web1");
    for (const { keys } of [a, b]) keys.put("web1", "accepted", key.publicKey.pem);
    const there = scripted(a, "web1", key), elsewhere = scripted(b, "web1", key);
    await there.signIn();
    elsewhere.session = there.session;
    const request = { cmd: "_rekey" };
    const [here, other] = [await there.request(request), await elsewhere.request(request)];
    // Both give the publish key that the cluster has.
    assertEquals([here, other].map((answer) => answer instanceof Map && answer.get("aes")), [
      there.shared?.keyString,
      there.shared?.keyString,
    ]);
    // No file of a session was made.
    assertEquals([...Deno.readDirSync(`${a.masterOpts.cachedir}/sessions`)], []);
    b.keys.remove("web1");
    assert(!(await elsewhere.request(request) instanceof Map));
    assert(await there.request(request) instanceof Map);
  },
);
