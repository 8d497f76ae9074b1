/**
 * The master's key at the path of Salt 3008: `<id>.pem`, with a link `master.pem` that a backup may not restore.
 * @module
 */

import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

function filesOf(directory: string): string[] {
  return [...Deno.readDirSync(directory)].filter(({ isFile }) => isFile).map(({ name }) => name).sort();
}

fleetTest("a master whose key was moved to <id>.pem keeps it when the link is gone, and its minions know it", {
  minions: ["web1"],
}, async (fleet) => {
  const { pki_dir } = fleet.masterOpts;
  await fleet.stopMaster();
  // The id is fleet_master: Salt's file name leaves out `_master`.
  for (const end of ["pem", "pub"]) Deno.renameSync(`${pki_dir}/master.${end}`, `${pki_dir}/fleet.${end}`);
  const key = Deno.readTextFileSync(`${pki_dir}/fleet.pem`);
  await fleet.startMaster();
  assertEquals(filesOf(pki_dir), ["fleet.pem", "fleet.pub"]);
  assertEquals(Deno.readTextFileSync(`${pki_dir}/fleet.pem`), key);
  assertEquals(await fleet.saltJson("web1", "test.ping"), new Map([["web1", true]]));
  // The public key at this path is signed too.
  const signed = await fleet.saltKey("--gen-signature", "--auto-create");
  assertEquals([signed.code, signed.err], [0, ""]);
  assertStringIncludes(filesOf(pki_dir).join(" "), "master_pubkey_signature");
});
