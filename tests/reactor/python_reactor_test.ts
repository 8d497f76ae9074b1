/**
 * Python minions of each version on our master: their events start our reactions, and their answers to the jobs of
 * reactions are events again.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { PYTHON_SALTS } from "#tests/interop/python_salt.ts";
import { OURS, type Salt, testWithPython } from "#tests/interop/salts.ts";
import { Site } from "#tests/interop/site.ts";

const ID = "web1";

/** The reactor files, by the tags that they react to. */
const FILES: Readonly<Record<string, readonly [tag: string, text: string]>> = {
  started: ["salt/minion/*/start", "a:\n  local.test.arg:\n    - tgt: {{ data.id }}\n    - arg: [started]\n"],
  said: [
    "deploy/*",
    "a:\n  local.test.arg:\n    - tgt: {{ data.id }}\n    - arg: ['{{ tag }} {{ data.data.version }}']\n    - metadata: {by: reactor}\n",
  ],
  forged: ["salt/key", "a:\n  local.test.arg:\n    - tgt: '*'\n    - arg: ['forged {{ data.act }}']\n"],
  answered: [
    "salt/job/*/ret/*",
    "{% if data.fun == 'test.arg' and data.return.args[0] == 'started' %}\n" +
    "a:\n  local.test.arg:\n    - tgt: {{ data.id }}\n    - arg: ['answered {{ data.success }}']\n{% endif %}\n",
  ],
};

/** The arguments of the jobs of `test.arg` that the minion has answered. */
async function answered(site: Site): Promise<string[]> {
  const jobs = await site.saltRun(["jobs.list_jobs", "search_function=test.arg", "--out=json"]);
  return Object.values(jobs as Record<string, { Arguments: string[] }>).map(({ Arguments }) => Arguments[0]).sort();
}

async function prove(python: Salt): Promise<void> {
  await using site = new Site();
  const directory = `${site.root}/reactor`;
  Deno.mkdirSync(directory);
  Deno.mkdirSync(`${site.root}/etc/salt/master.d`, { recursive: true });
  const map = Object.entries(FILES).map(([name, [tag, text]]) => {
    Deno.writeTextFileSync(`${directory}/${name}.sls`, text);
    return { [tag]: `${directory}/${name}.sls` };
  });
  Deno.writeTextFileSync(`${site.root}/etc/salt/master.d/reactor.conf`, JSON.stringify({ reactor: map }));
  await site.explain(async () => {
    await site.startMaster(OURS);
    site.startMinion(python, ID);
    await site.keyComes(ID, "minions_pre");
    await site.acceptAll();
    await site.answers(ID);
    const has = (...wanted: string[]) => async () => {
      const found = await answered(site);
      return wanted.every((text) => found.includes(text));
    };
    await eventually(has("started", "answered True"), {
      withinMs: 120_000,
      what: "the reactions to the minion's start",
    });
    assertEquals(await site.salt([ID, "event.send", "deploy/web", "{version: 7}"]), { [ID]: true });
    await site.salt([ID, "event.send", "salt/key", "{act: pretended, id: other}"]);
    await eventually(has("deploy/web 7"), { withinMs: 60_000, what: "the reaction to the minion's event" });
    // The minion's own key was accepted by the master; the minion's word about another one starts nothing.
    assertEquals((await answered(site)).filter((text) => text === "forged pretended"), []);
    assertEquals((await answered(site)).filter((text) => text === "deploy/web 7").length, 1);
  });
}

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "events of a minion of {} start reactions of our master", (python) => prove(python));
}
