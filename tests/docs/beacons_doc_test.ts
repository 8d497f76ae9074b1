/**
 * The examples of docs/beacons.md: its configurations are valid, and its commands and states work on a minion.
 * @module
 */

import { BEACONS } from "#modules/beacons/_built_in.ts";
import { readBeacons } from "#lib/minion/beacons/settings.ts";
import { ownConfig } from "#lib/plugins/beacon.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { isMap, truthy } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/beacons.md", import.meta.url));

function blocks(language: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(([, text]) => text);
}

Deno.test("the configurations in docs/beacons.md are valid, and the page names every beacon", async () => {
  const configurations = blocks("yaml").filter((text) => text.startsWith("beacons:"));
  assertEquals(configurations.length, 2);
  for (const text of configurations) {
    const document = loadYaml(text, "docs/beacons.md");
    assert(isMap(document));
    const beacons = document.get("beacons");
    assert(isMap(beacons));
    const { running, invalid } = readBeacons(beacons, 1_000);
    assertEquals([invalid.size, running.length], [0, beacons.size]);
    for (const { name, module, maps } of running) {
      const { beacon } = await BEACONS[module]();
      assertEquals(await beacon.validate(ownConfig(maps)), undefined, name);
    }
  }
  for (const name of Object.keys(BEACONS)) assert(PAGE.includes(`\`${name}\``), name);
});

fleetTest("the commands and states in docs/beacons.md work", { minions: ["web1"] }, async (fleet) => {
  const lines = blocks("sh").flatMap((text) => text.trim().split("\n"));
  assert(lines.length >= 7);
  const [own] = blocks("js");
  Deno.mkdirSync(`${fleet.root}/srv/_beacons`, { recursive: true });
  Deno.writeTextFileSync(`${fleet.root}/srv/_beacons/room.js`, own);
  const commands = [
    ...lines,
    ...blocks("yaml").filter((text) => !text.startsWith("beacons:"))
      .map((text) => `salt web1 state.template_str '${text}'`),
  ];
  for (const line of commands) {
    const [program, ...words] = shlexSplit(line.replace("seconds=30", "seconds=1"));
    assertEquals(program, "salt");
    const answers = await fleet.saltJson(...words);
    const answer = isMap(answers) ? answers.get("web1") ?? null : null;
    if (Array.isArray(answer)) assertEquals(answer, ["beacons.room"]);
    else if (!isMap(answer)) assert(typeof answer === "string" && answer.startsWith("beacons:"), `${line}: ${answer}`);
    else assert(truthy(answer.get("result") ?? answer.get("valid") ?? [...answer.values()].every(isDone)), line);
  }
});

function isDone(state: unknown): boolean {
  return state instanceof Map && state.get("result") === true;
}
