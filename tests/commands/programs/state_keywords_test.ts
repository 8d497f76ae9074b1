/**
 * `salt` refuses misspelt keywords of the functions of `state`, `schedule` and `beacons` before it publishes: they
 * would change hosts.
 * @module
 */

import { beaconsKeywords } from "#lib/client/beacon_keywords.ts";
import { stateKeywords } from "#lib/states/run/call_keywords.ts";
import { scheduleKeywords } from "#lib/schedule/call_keywords.ts";
import { KNOWN_RETURNERS } from "#lib/client/published_returners.ts";
import { RETURNERS } from "#modules/returners/_built_in.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { Fleet } from "#tests/support/fleet/fleet.ts";

Deno.test("the keywords that salt knows are those of the functions", async () => {
  const catalogue = loadCatalogue({ grains: () => map({ kernel: "Linux" }) });
  const functions = (await catalogue.all()).filter(({ name }) => name.startsWith("state."));
  assert(functions.length > 30);
  for (const { name, fun: { params, keywords } } of functions) {
    const known = keywords === undefined ? undefined : [...new Set([...Object.keys(params), ...keywords])].sort();
    const ours = stateKeywords(name);
    assertEquals(ours && [...new Set(ours)].sort(), known, name);
  }
});

Deno.test("the keywords of schedule that salt knows are those of the functions, and of their parameters", async () => {
  const catalogue = loadCatalogue({ grains: () => map({ kernel: "Linux" }) });
  const functions = (await catalogue.all()).filter(({ name }) => name.startsWith("schedule."));
  assert(functions.length > 20);
  for (const { name, fun: { params, keywords } } of functions) {
    const ours = scheduleKeywords(name);
    assertEquals(ours === undefined, keywords === undefined, name);
    const known = [...Object.keys(params), ...keywords ?? []];
    assertEquals(ours === undefined ? [] : known.filter((key) => !ours.includes(key)), [], name);
  }
});

Deno.test("the keywords of beacons that salt knows are those of the functions", async () => {
  const catalogue = loadCatalogue({ grains: () => map({ kernel: "Linux" }) });
  const functions = (await catalogue.all()).filter(({ name }) => name.startsWith("beacons."));
  assert(functions.length > 10);
  for (const { name, fun: { params, keywords } } of functions) {
    const known = keywords === undefined ? undefined : [...Object.keys(params), ...keywords].sort();
    assertEquals(beaconsKeywords(name)?.toSorted(), known, name);
  }
});

Deno.test("salt sends no call of state, schedule or beacons with a keyword that the function does not have", async () => {
  await using fleet = new Fleet({});
  const refused: readonly (readonly [words: readonly string[], text: string])[] = [
    [
      ["state.apply", "motd", "tset=True"],
      "state.apply takes no argument 'tset'; did you mean test? Nothing was sent.",
    ],
    [
      ["state.highstate", "pilar={}"],
      "state.highstate takes no argument 'pilar'; did you mean pillar? Nothing was sent.",
    ],
    [["state.sls", "motd", "zzz=1"], "state.sls takes no argument 'zzz'. Nothing was sent."],
    ...["show_sls", "show_low_sls", "show_highstate", "show_lowstate", "show_top", "show_states", "show_state_usage"]
      .map(
        (name) =>
          [
            [`state.${name}`, ...name.endsWith("sls") ? ["motd"] : [], "tset=True"],
            `state.${name} takes no argument 'tset'; did you mean test? Nothing was sent.`,
          ] as const,
      ),
    [
      ["schedule.add", "j1", "function=test.ping", "secnods=60"],
      "schedule.add takes no argument 'secnods'; did you mean seconds? Nothing was sent.",
    ],
    [["schedule.delete", "j1", "persst=False"], "schedule.delete takes no argument 'persst'; did you mean persist?"],
    [
      ["beacons.add", "ps", "[{processes: {}}]", "tset=True"],
      "beacons.add takes no argument 'tset'; did you mean test? Nothing was sent.",
    ],
    [["beacons.delete", "ps", "nmae=x"], "beacons.delete takes no argument 'nmae'; did you mean name?"],
    [["test.ping,beacons.disable", ",", "tset=True"], "beacons.disable takes no argument 'tset'"],
    [["state.lint", "sls=src"], "state.lint takes no argument 'sls'"],
    [["test.ping,state.apply", ",", "motd", "tset=True"], "state.apply takes no argument 'tset'"],
    [["-b1", "state.apply", "tset=True"], "state.apply takes no argument 'tset'"],
  ];
  for (const [words, text] of refused) {
    const own = words[0].startsWith("-") ? [words[0], "*", ...words.slice(1)] : ["*", ...words];
    const { code, err } = await fleet.salt(...own);
    assertStringIncludes(err, text);
    assertEquals(code, 64, words.join(" "));
  }
  // No master runs: what is not refused fails with its absence.
  const sent = [
    ["state.apply", "motd", "test=True", "pillar={}", "Test=True", "saltenv=base", "queue=True"],
    ["state.single", "file.managed", "/x", "contents=x", "zzz=1"],
    ["state.own_function", "tset=True"],
    ["schedule.add", "j1", "function=test.ping", "seconds=60", "missed=once", "timezone=UTC"],
    ["test.echo", "tset=True"],
  ];
  for (const words of sent) assertEquals((await fleet.salt("*", ...words)).code, 69, words.join(" "));
});

Deno.test("salt sends no job to a returner whose name is misspelt, unless the file server has that one", async () => {
  assertEquals(Object.keys(RETURNERS).filter((name) => !KNOWN_RETURNERS.includes(name)), []);
  await using fleet = new Fleet({});
  const root = `${fleet.root}/srv`;
  Deno.mkdirSync(`${root}/_returners`, { recursive: true });
  Deno.writeTextFileSync(`${root}/_returners/mysql2.ts`, "");
  Deno.mkdirSync(fleet.configDir, { recursive: true });
  const config = `root_dir: ${fleet.root}/none\nfile_roots: {base: [${root}]}\n`;
  Deno.writeTextFileSync(`${fleet.configDir}/master`, config);
  const run = async (name: string) => {
    const { code, err } = await fleet.salt("*", "test.ping", "--return", name);
    return code === 69 ? "sent" : err;
  };
  assertStringIncludes(await run("local,sqlite"), "There is no returner 'sqlite'; did you mean sqlite3? Nothing was");
  assertStringIncludes(await run("../x"), "'../x' cannot be a returner. Nothing was sent.");
  assertStringIncludes(await run("mysql1"), "There is no returner 'mysql1'; did you mean mysql?");
  for (const name of ["mysql2", "pgjsonb,redis", "our_own_store"]) assertEquals(await run(name), "sent", name);
});

Deno.test("state_check_arguments: False of the master lets salt send any keyword", async () => {
  await using fleet = new Fleet({});
  Deno.mkdirSync(fleet.configDir, { recursive: true });
  const config = `root_dir: ${fleet.root}/none\nstate_check_arguments: False\n`;
  Deno.writeTextFileSync(`${fleet.configDir}/master`, config);
  assertEquals((await fleet.salt("*", "state.apply", "tset=True")).code, 69);
});
