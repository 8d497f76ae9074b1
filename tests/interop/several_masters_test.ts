/**
 * A minion with two masters of another implementation: all at once, and one at a time.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";

/** Two masters with one key pair. */
async function startMasters(salt: Salt, sites: readonly Site[]): Promise<void> {
  const [first, second] = sites;
  await first.startMaster(salt);
  await eventually(() => exists(`${first.pkiDir}/master.pub`), { what: "the master's key" });
  Deno.mkdirSync(second.pkiDir, { recursive: true, mode: 0o700 });
  for (const name of ["master.pem", "master.pub"]) {
    Deno.copyFileSync(`${first.pkiDir}/${name}`, `${second.pkiDir}/${name}`);
  }
  await second.startMaster(salt);
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

async function accept(site: Site): Promise<void> {
  await site.keyComes("web1", "minions_pre");
  await site.operate("salt-key", ["-y", "-a", "web1"]);
  await site.answers("web1");
}

async function proveBoth(master: Salt, minion: Salt): Promise<void> {
  await using first = new Site();
  await using second = new Site();
  await first.explain(async () => {
    await startMasters(master, [first, second]);
    first.startMinion(minion, "web1", [first, second]);
    await Promise.all([accept(first), accept(second)]);
    for (const site of [first, second]) {
      assertEquals(await site.salt(["web1", "test.echo", "hello"]), { web1: "hello" });
    }
    await first.stopMaster();
    // Python's minion begins anew when one of its masters is gone, and may miss a job meanwhile.
    if (minion !== OURS) return await second.answers("web1");
    assertEquals(await second.salt(["web1", "test.ping"]), { web1: true });
  });
}

/** Ours only: Python's looks for a connection to one configured publish port; masters on one host have several. */
async function proveFailover(master: Salt): Promise<void> {
  await using first = new Site();
  await using second = new Site();
  await first.explain(async () => {
    await startMasters(master, [first, second]);
    first.startMinion(OURS, "web1", [first, second], "master_type: failover\nmaster_alive_interval: 2\n");
    await accept(first);
    await first.stopMaster();
    await accept(second);
    assertEquals(await second.salt(["web1", "test.ping"]), { web1: true });
  });
}

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "our minion serves two masters of {}", (python) => proveBoth(python, OURS));
  await testWithPython(version, "our minion goes from one master of {} to the next", proveFailover);
  await testWithPython(version, "a minion of {} serves two of our masters", (python) => proveBoth(OURS, python));
}
