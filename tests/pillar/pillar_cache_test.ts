/** `pillar_cache: True` in a whole fleet: who replaces the pillar that the master keeps. */

import { assertEquals } from "#tests/support/assert.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

for (const command of ["salt-call", "salt"] as const) {
  Deno.test(`${command} saltutil.refresh_pillar wait=True replaces the pillar that pillar_cache keeps, before it returns`, () =>
    withTemporaryDirectory(async (root) => {
      Deno.writeTextFileSync(`${root}/top.sls`, "base:\n  '*': [common]\n");
      Deno.writeTextFileSync(`${root}/common.sls`, "release: first\n");
      await using fleet = await startFleet({
        minions: ["web1"],
        master: { pillar_roots: { base: [root] }, pillar_cache: true },
      });
      const run = (...words: string[]) =>
        command === "salt" ? fleet.salt("web1", ...words) : fleet.saltCall("web1", ...words);
      const inMemory = async () =>
        (await fleet.salt("web1", "--out=txt", "pillar.get", "release", "unmask=True")).out.trim();
      const ofRequest = async () =>
        (await fleet.saltCall("web1", "--out=txt", "pillar.get", "release", "unmask=True")).out.trim();
      // It takes longer than the next job needs to begin: who does not wait sees the old one.
      Deno.writeTextFileSync(`${root}/common.sls`, "# {{ salt['test.sleep'](2) }}\nrelease: second\n");
      assertEquals([await inMemory(), await ofRequest()], ["web1: first", "local: first"]);
      const { code, err } = await run("saltutil.refresh_pillar", "wait=True");
      assertEquals([code, err], [0, ""]);
      assertEquals([await inMemory(), await ofRequest()], ["web1: second", "local: second"]);
    }));
}
