/** `cRLNumber: auto` of `x509.crl_managed` with numbers that Salt's recorded situations do not have. */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";

Deno.test("x509.crl_managed increments CRL numbers above 2^53", async () => {
  await using tree = await openTree({});
  const make = async (fun: string, kwargs: Readonly<Record<string, unknown>>): Promise<Value> =>
    (await tree.call(`x509.${fun}`, [], kwargs)).returned;
  const key = await make("create_private_key", { algo: "ed25519" });
  const own = { signing_private_key: key, basicConstraints: "critical, CA:TRUE", subjectKeyIdentifier: "hash" };
  const signer = { signing_private_key: key, signing_cert: await make("create_certificate", { ...own, CN: "ca" }) };
  const path = `${tree.root}/ca.crl`;
  const [revoked, more] = [[{ serial_number: "01" }], [{ serial_number: "01" }, { serial_number: "02" }]];
  // RFC 5280 section 5.2.3 allows 20 octets.
  const number = 2n ** 158n;
  await make("create_crl", { ...signer, revoked, extensions: { cRLNumber: number }, path });
  const args = { ...signer, name: path, revoked: more, extensions: { cRLNumber: "auto" } };
  const result = await callState("x509.crl_managed", args, { job: tree.context });
  assertEquals(result.get("result"), true, String(result.get("comment")));
  const read = await make("read_crl", { crl: path });
  assert(isMap(read));
  const extensions = read.get("extensions") ?? null;
  assert(isMap(extensions));
  assertEquals(extensions.get("cRLNumber"), map({ critical: false, value: number + 1n }));
});
