/** A minion's pillar request, its pillar cache, and the grains of its sign-in. */

import { applicantOf } from "#lib/minion/masters/link_settings.ts";
import { writePillarCache } from "#lib/minion/agent/pillar_cache.ts";
import { extraMinionData, pillarRequest } from "#lib/minion/agent/pillar_request.ts";
import { map, repr } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("pass_to_ext_pillars passes options by name or by path; missing ones are left out", () => {
  const opts = testOpts({
    grains: map({ role: { name: "web", port: 80 } }),
    pass_to_ext_pillars: ["grains:role:name", "grains:role:port", "grains:none:x", "hash_type"],
  });
  const data = map({ grains: { role: { name: "web", port: 80 } }, hash_type: "sha256" });
  assertEquals(repr(extraMinionData(opts)), repr(data));
  const request = pillarRequest(opts, map({ os: "Debian" }), { ext: map({ a: 1 }), cleanCache: true });
  assertEquals(repr(request.get("extra_minion_data") ?? null), repr(data));
  assertEquals([request.get("ext"), request.get("clean_cache")], [map({ a: 1 }), true]);
});

Deno.test("minion_pillar_cache writes the pillar as files that salt-call --pillar-root can use", async () => {
  await withTemporaryDirectory(async (root) => {
    const logged: string[] = [];
    const log = recordingLogger(logged);
    const opts = { ...testOpts({ minion_pillar_cache: true, id: "web1" }), cachedir: root };
    const pillar = map({ a: ["x", { b: 1 }] });
    await writePillarCache({ ...opts, minion_pillar_cache: false }, pillar, log);
    assertEquals([...Deno.readDirSync(root)].length, 0);
    await writePillarCache(opts, pillar, log);
    const read = (name: string) => repr(loadYaml(Deno.readTextFileSync(`${root}/pillar/${name}.sls`)));
    assertEquals([read("top"), read("cache")], [repr(map({ base: { web1: ["cache"] } })), repr(pillar)]);
    assertEquals((Deno.statSync(`${root}/pillar/cache.sls`).mode ?? 0) & 0o777, 0o600);
    Deno.removeSync(`${root}/pillar`, { recursive: true });
    Deno.writeTextFileSync(`${root}/pillar`, "in the way");
    await writePillarCache(opts, pillar, log);
    assertStringIncludes(logged.join("\n"), `ERROR: The pillar cannot be written to ${root}/pillar`);
  });
});

Deno.test("a minion signs in with the grains of autosign_grains that it has", async () => {
  await withTemporaryDirectory(async (root) => {
    const opts = { ...testOpts({ autosign_grains: ["uuid", "none"] }), pki_dir: root };
    const { autosignGrains } = await applicantOf(opts, map({ uuid: "4f2", os: "Debian" }));
    assertEquals(autosignGrains, map({ uuid: "4f2" }));
  });
});
