/**
 * Minions of Python Salt in a cluster of our masters: connected to all of them, they take each job once, whichever
 * master publishes it, and go on when one ends.
 * @module
 */

import { OURS, type Salt, testWithPython } from "#tests/interop/salts.ts";
import { PYTHON_SALTS } from "#tests/interop/python_salt.ts";
import { Site } from "#tests/interop/site.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { serverProgram, startPostgres } from "#tests/support/database_servers.ts";

async function prove(python: Salt): Promise<void> {
  await using server = await startPostgres();
  const options = (name: string) =>
    `id: ${name}\ncluster_id: prod\ncluster_secret: correct horse battery staple\ncluster_lease: 3\n` +
    `postgresql: {host: 127.0.0.1, port: ${server.port}}\n`;
  await using first = new Site(options("master-a"));
  await using second = new Site(options("master-b"));
  await first.explain(async () => {
    await first.startMaster(OURS);
    await second.startMaster(OURS);
    first.startMinion(python, "web1", [first, second]);
    await first.keyComes("web1", "minions_pre");
    await first.operate("salt-key", ["-y", "-a", "web1"]);
    await second.keyComes("web1", "minions");
    const log = `${first.root}/ran`;
    for (const [n, site] of [first, second, first, second].entries()) {
      await site.answers("web1");
      assertEquals(await site.salt(["web1", "cmd.run", `echo ${n} >> ${log}; echo ${n}`]), { web1: String(n) });
    }
    assertEquals(Deno.readTextFileSync(log), "0\n1\n2\n3\n");
    await first.stopMaster();
    // Masters at one address confuse the minion of 3007, which loses and finds the second again and again.
    await second.answers("web1");
  });
}

if (serverProgram("postgres") === undefined) {
  Deno.test({ name: "minions of Python in a cluster (skipped: there is no postgres)", ignore: true, fn() {} });
} else {
  for (const version of PYTHON_SALTS) {
    await testWithPython(version, "a minion of {} has the masters of a cluster, and runs each job once", prove);
  }
}
