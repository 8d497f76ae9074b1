/**
 * The mine between implementations: Python minions of each version fill and read the mine of our master, and our minion
 * that of theirs; and our master reads the files that theirs has written.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, type Salt, testWithPython, testWithPythons } from "./salts.ts";
import { jsonDocuments, Site } from "./site.ts";

const FUNCTIONS = "{test.echo: [hello], alias: [{mine_function: test.echo}, named], " +
  "secret: {mine_function: test.echo, text: s, allow_tgt: 'web[!2]'}, no.such: []}";

const TEMPLATE = "{% for id, v in salt['mine.get']('*', 'test.echo')|dictsort %}\n" +
  "from {{ id }}:\n  test.show_notification:\n    - text: '{{ v }}'\n{% endfor %}\n";

/** The same value for each minion. */
const each = <T>(ids: readonly string[], value: T) => Object.fromEntries(ids.map((id) => [id, value]));

/** Fills the mine by each minion, and reads it by all. Of the minions, `web2` may not read what is restricted. */
async function prove(t: Deno.TestContext, master: Salt, minions: Readonly<Record<string, Salt>>): Promise<void> {
  await using site = new Site();
  const step = (name: string, run: () => Promise<void>) => t.step(name, () => site.explain(run));
  const ids = Object.keys(minions).sort();
  await site.explain(async () => {
    Deno.mkdirSync(`${site.root}/srv`, { recursive: true });
    Deno.writeTextFileSync(`${site.root}/srv/mined.sls`, TEMPLATE);
    await site.startMaster(master);
    for (const id of ids) site.startMinion(minions[id], id);
    for (const id of ids) await site.keyComes(id, "minions_pre");
    await site.acceptAll();
    await Promise.all(ids.map((id) => site.answers(id)));
  });
  /** Asks until each minion has the wanted answer: writing on Python minions is not finished when it returns. */
  const becomes = async (words: readonly string[], wanted: Record<string, unknown>) => {
    let last = "";
    const text = (answers: Record<string, unknown>) =>
      Object.keys(answers).sort().map((id) => `${id}: ${JSON.stringify(answers[id])}`).join("\n");
    await eventually(async () => {
      const { out } = await site.operate("salt", ["--out=json", ...words]);
      last = out;
      return text(jsonDocuments(out)) === text(wanted);
    }, { withinMs: 30_000, what: `${JSON.stringify(wanted)} of salt ${words.join(" ")}` }).catch((error) => {
      throw new Error(`${error.message}; last: ${last}`);
    });
  };

  await step("mine.update stores what exists, and every minion reads it", async () => {
    assertEquals(await site.salt(["*", "mine.update", `mine_functions=${FUNCTIONS}`]), each(ids, true));
    await becomes(["*", "mine.get", "*", "test.echo"], each(ids, each(ids, "hello")));
    await becomes(["*", "mine.get", "*", "alias"], each(ids, each(ids, "named")));
    assertEquals(await site.saltRun(["mine.get", ids[0], "test.echo"]), { [ids[0]]: "hello" });
  });

  await step("mine.send, mine.delete and several names", async () => {
    assertEquals(await site.salt(["*", "mine.send", "sent", "mine_function=test.echo", "text=x"]), each(ids, true));
    await becomes(["*", "mine.get", "*", "sent"], each(ids, each(ids, "x")));
    assertEquals(await site.salt(["*", "mine.delete", "sent"]), each(ids, true));
    await becomes(["*", "mine.get", "*", "sent"], each(ids, {}));
    const [reader] = ids;
    const both = (await site.salt([reader, "mine.get", reader, "test.echo,alias"]))[reader];
    assertEquals(both, { "test.echo": { [reader]: "hello" }, alias: { [reader]: "named" } });
  });

  await step("allow_tgt lets only its target read", async () => {
    await becomes(["*", "mine.get", "*", "secret"], { ...each(ids, each(ids, "s")), web2: {} });
  });

  await step("a template of state.apply reads the mine", async () => {
    const applied = await site.salt(["*", "state.apply", "mined"]);
    assertEquals(Object.keys(applied).sort(), ids);
    for (const id of ids) {
      const out = JSON.stringify(applied[id]);
      for (const from of ids) assertStringIncludes(out, `"from ${from}"`);
      assertStringIncludes(out, "hello");
    }
  });

  await step("clear replaces all values", async () => {
    // Minions of Python Salt only ask for it; their masters fail.
    const able = ids.filter((id) => master.version === undefined || minions[id].version === undefined);
    const list = able.join(",");
    const update = ["mine.update", "clear=True", "mine_functions={test.true: []}"];
    assertEquals(await site.salt(["-L", list, ...update]), each(able, true));
    const get = (name: string) => ["-L", list, "mine.get", list, name, "tgt_type=list"];
    await becomes(get("test.true"), each(able, each(able, true)));
    await becomes(get("alias"), each(able, {}));
  });

  await step("mine.flush removes all", async () => {
    const [id] = ids;
    assertEquals(await site.salt([id, "mine.flush"]), { [id]: true });
    await becomes([id, "mine.get", id, "test.echo,test.true"], { [id]: {} });
    assertEquals(await site.salt([id, "mine.update", "mine_functions={test.echo: [last]}"]), { [id]: true });
    await becomes([id, "mine.get", id, "test.echo"], { [id]: { [id]: "last" } });
  });

  if (master === OURS) return;
  await step("our master reads the mine that theirs has written", async () => {
    const [id] = ids;
    await site.stopMaster();
    await site.startMaster(OURS);
    assertEquals(await site.saltRun(["mine.get", id, "test.echo"]), { [id]: "last" });
    const aged = await site.saltRun(["mine.get", id, "test.echo", "with_age=True"]) as Record<string, { age: number }>;
    assert(aged[id].age >= 0 && aged[id].age < 600, JSON.stringify(aged));
  });
}

await testWithPythons(PYTHON_SALTS, "minions of {} and ours share the mine of our master", ([first, ...others], t) => {
  const more = Object.fromEntries(others.map((salt, i) => [`web${3 + i}`, salt]));
  return prove(t, OURS, { web1: first, web2: OURS, ...more });
});

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "our minion and one of {} share the mine of its master", (python, t) => {
    return prove(t, python, { web1: OURS, web2: python });
  });
}
