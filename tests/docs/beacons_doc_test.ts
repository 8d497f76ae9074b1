import { BEACONS } from "#modules/beacons/_built_in.ts";
import { readBeacons } from "#lib/minion/beacons/settings.ts";
import { ownConfig } from "#lib/plugins/beacon.ts";
import { isMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/beacons.md", import.meta.url));

Deno.test("the configuration in docs/beacons.md is valid, and the page names every beacon", async () => {
  const [, block] = /^```yaml\n(beacons:[^]*?)^```$/m.exec(PAGE) ?? [];
  const document = loadYaml(block, "docs/beacons.md");
  assert(isMap(document));
  const beacons = document.get("beacons");
  assert(isMap(beacons));
  const { running, invalid } = readBeacons(beacons, 1_000);
  assertEquals([invalid.size, running.length], [0, beacons.size]);
  for (const { name, module, maps } of running) {
    const { beacon } = await BEACONS[module]();
    assertEquals(await beacon.validate(ownConfig(maps)), undefined, name);
  }
  for (const name of Object.keys(BEACONS)) assert(PAGE.includes(`\`${name}\``), name);
});
