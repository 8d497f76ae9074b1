/**
 * How masters join a cluster: the key pair, and where secrets are.
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { clusterTest, refusal } from "#tests/support/cluster/cluster_site.ts";

/** The private key of a master, as it is on its disk. */
function pairOf(pkiDir: string): string {
  return Deno.readTextFileSync(`${pkiDir}/master.pem`);
}

clusterTest("the second master with an empty pki_dir gets the key pair of the first, for its own eyes", {}, (
  { masters: [a, b] },
) => {
  assertEquals(pairOf(a.masterOpts.pki_dir), pairOf(b.masterOpts.pki_dir));
  assertEquals((Deno.statSync(`${b.masterOpts.pki_dir}/master.pem`).mode ?? 0) & 0o777, 0o400);
  return Promise.resolve();
});

clusterTest("the database holds no key in clear", { masters: 1 }, async ({ masters: [a], server }) => {
  // The server refuses the statement if a row has the text.
  const base64 = pairOf(a.masterOpts.pki_dir).split("\n")[1];
  await server.sql(`do $$ begin
    if exists (select 1 from salt.secrets where position(convert_to('${base64}', 'UTF8') in sealed) > 0) then
      raise exception 'a key in clear';
    end if;
    if (select count(*) from salt.secrets) <> 3 then raise exception 'not three secrets'; end if;
  end $$;`);
});

clusterTest("the secret may be in a file; clocks that differ by an hour are told, and the master serves", {
  masters: 1,
}, async (site) => {
  // The path is below root_dir, as those of all options.
  const b = site.addMaster({ master: { cluster_secret: null, cluster_secret_file: "/secret" } });
  assertStringIncludes(await refusal(b), "cluster_secret_file: there is no secret in");
  Deno.writeTextFileSync(`${b.configDir}/secret`, "correct horse battery staple\n");
  await b.startMaster();
  assertEquals(pairOf(b.masterOpts.pki_dir), pairOf(site.masters[0].masterOpts.pki_dir));
  await b.stopMaster();
  const { now } = Date;
  Date.now = () => now() - 3_600_000;
  try {
    await b.startMaster();
  } finally {
    Date.now = now;
  }
  const told = b.logs.find((line) => line.includes("The clocks of this host and of the database differ by"));
  assertMatch(String(told), /differ by 3[56]\d\d s: set them by NTP/);
});

clusterTest("masters that start at once in an empty database have one key pair", { masters: 0 }, async (site) => {
  const fleets = [site.addMaster(), site.addMaster()];
  await Promise.all(fleets.map((fleet) => fleet.startMaster()));
  const [one, other] = fleets.map(({ masterOpts }) => pairOf(masterOpts.pki_dir));
  assertEquals(one, other);
});
