/**
 * How masters join a cluster: key pair, secrets, names, and what stops a start.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { clusterTest } from "#tests/support/cluster/cluster_site.ts";

/** The private key of a master, as it is on its disk. */
function pairOf(pkiDir: string): string {
  return Deno.readTextFileSync(`${pkiDir}/master.pem`);
}

clusterTest("the second master with an empty pki_dir gets the key pair of the first, for its own eyes", {}, async (
  { masters: [a, b] },
) => {
  assertEquals(pairOf(a.masterOpts.pki_dir), pairOf(b.masterOpts.pki_dir));
  assertEquals((Deno.statSync(`${b.masterOpts.pki_dir}/master.pem`).mode ?? 0) & 0o777, 0o400);
  await Promise.resolve();
});
