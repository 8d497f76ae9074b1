/**
 * Minions of Python Salt below a master of ours whose key pair the next one replaces: they serve under the old key
 * until the overlap ends; one that was given the next key serves with that. After the end a minion that has the old
 * one runs jobs as long as it need not sign in, and gets no pillar.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { rotateMasterPair, settleMasterPair, statementsPath } from "#lib/keys/master_rotation.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { OURS, type Salt, testWithPython } from "#tests/interop/salts.ts";
import { jsonDocuments, Site } from "#tests/interop/site.ts";
import { assertEquals, assertNotEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

/** Gets nothing; gets the next key in the overlap; is away when the overlap ends. */
const IDS = ["stays", "given", "away"] as const;

function trustPath(site: Site, id: string): string {
  return `${site.minionRoot(id)}/etc/salt/pki/minion/minion_master.pub`;
}

const trusts = (site: Site, id: string) => Deno.readTextFileSync(trustPath(site, id)).trim();
const masterKey = (site: Site) => Deno.readTextFileSync(`${site.pkiDir}/master.pub`).trim();

/** What the minion gets anew from the master, and whose signature it checks: `true`, or in its place an error. */
async function pillar(site: Site, id: string): Promise<unknown> {
  const { out } = await site.operate("salt", ["--out=json", "-t", "20", id, "pillar.items"]);
  const items = jsonDocuments(out)[id];
  return typeof items === "object" && items !== null && "of" in items ? true : items;
}

async function restart(site: Site, python: Salt, id: string): Promise<void> {
  await site.stopMinion(id);
  site.startMinion(python, id);
}

/** Ends the overlap now: with the files of its end, which the master looks at when the one of statements is another. */
function endOverlap(site: Site, notAfterMs: number): void {
  const { opts } = loadMasterConfig({ configDir: `${site.root}/etc/salt` });
  assertNotEquals(settleMasterPair(opts, notAfterMs), undefined);
  const path = statementsPath(opts.pki_dir);
  writeFileAtomic(path, Deno.readFileSync(path), { mode: 0o644 });
}

async function prove(python: Salt): Promise<void> {
  await using site = new Site();
  await site.explain(async () => {
    await site.startMaster(OURS);
    for (const id of IDS) site.startMinion(python, id);
    for (const id of IDS) await site.keyComes(id, "minions_pre");
    await site.acceptAll();
    for (const id of IDS) await site.answers(id);
    const old = masterKey(site), nowMs = Date.now();
    const { opts } = loadMasterConfig({ configDir: `${site.root}/etc/salt` });
    const times = { keysize: 2048, nowMs, notBeforeMs: nowMs - 1_000, notAfterMs: nowMs + 3_600_000 };
    const { statement: { next, notAfterMs } } = await rotateMasterPair(opts, times);

    // In the overlap.
    Deno.writeTextFileSync(trustPath(site, "given"), `${next}\n`);
    for (const id of ["stays", "given"]) await restart(site, python, id);
    for (const id of ["stays", "given"]) {
      await site.answers(id);
      assertEquals(await pillar(site, id), true);
    }
    assertEquals([trusts(site, "stays"), trusts(site, "given")], [old, next.trim()]);
    const shown = await site.saltRun(["cluster.rotate", "key=master"]) as { needs_old: string[] };
    assertEquals(shown.needs_old, ["away", "stays"]);

    await site.stopMinion("away");
    endOverlap(site, notAfterMs);
    assertEquals(masterKey(site), next.trim());
    for (const id of ["stays", "given"]) await site.answers(id);
    assertEquals(await pillar(site, "given"), true);
    assertStringIncludes(String(await pillar(site, "stays")), "Exception getting pillar");
    await site.answers("stays");

    // One that signs in with the old key refuses the master.
    const log = `${site.minionRoot("away")}/var/log/salt/minion`;
    site.startMinion(python, "away");
    await eventually(() => /master key has changed/.test(Deno.readTextFileSync(log)), {
      withinMs: 120_000,
      what: "the refusal of the new key",
    });

    // What an operator does: over the connection that is left, and on the host.
    assertEquals(await site.salt(["stays", "file.remove", trustPath(site, "stays")]), { stays: true });
    Deno.removeSync(trustPath(site, "away"));
    for (const id of ["stays", "away"]) await restart(site, python, id);
    for (const id of ["stays", "away"]) {
      await site.answers(id);
      assertEquals([await pillar(site, id), trusts(site, id)], [true, next.trim()]);
    }
  });
}

for (const version of ["3006.28", "3008.3"]) {
  await testWithPython(version, "minions of {} and the next key pair of our master", prove);
}
