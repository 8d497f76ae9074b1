/**
 * The mine between implementations: Python minions of each version fill and read the mine of our master, and our minion
 * that of theirs; and our master reads the files that theirs has written.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";
import { Site } from "./site.ts";

const FUNCTIONS = "{test.echo: [hello], alias: [{mine_function: test.echo}, named], " +
  "secret: {mine_function: test.echo, text: s, allow_tgt: web1}, no.such: []}";

const TEMPLATE = "{% for id, v in salt['mine.get']('*', 'test.echo')|dictsort %}\n" +
  "from {{ id }}:\n  test.show_notification:\n    - text: '{{ v }}'\n{% endfor %}\n";

/** Fills the mine by a minion, and reads it by both. */
async function prove(t: Deno.TestContext, master: Salt, minions: Readonly<Record<string, Salt>>): Promise<void> {
  await using site = new Site();
  const step = (name: string, run: () => Promise<void>) => t.step(name, () => site.explain(run));
  const ids = Object.keys(minions);
  await site.explain(async () => {
    Deno.mkdirSync(`${site.root}/srv`, { recursive: true });
    Deno.writeTextFileSync(`${site.root}/srv/mined.sls`, TEMPLATE);
    await site.startMaster(master);
    for (const id of ids) {
      site.startMinion(minions[id], id);
      await site.keyComes(id, "minions_pre");
    }
    await site.acceptAll();
    for (const id of ids) await site.answers(id);
  });
  /** Asks until the answer is the wanted one: writing on Python minions is not finished when it returns. */
  const becomes = async (words: readonly string[], wanted: Record<string, unknown>) => {
    let last = "";
    await eventually(async () => {
      const { out } = await site.operate("salt", ["--out=json", "--static", ...words]);
      last = out;
      return JSON.stringify(parsed(out)) === JSON.stringify(wanted);
    }, { withinMs: 30_000, what: `${JSON.stringify(wanted)} of salt ${words.join(" ")}` }).catch((error) => {
      throw new Error(`${error.message}; last: ${last}`);
    });
  };

  await step("mine.update stores what exists, and every minion reads it", async () => {
    for (const id of ids) {
      assertEquals(await site.salt([id, "mine.update", `mine_functions=${FUNCTIONS}`]), { [id]: true });
    }
    const all = Object.fromEntries([...ids].sort().map((id) => [id, "hello"]));
    for (const id of ids) await becomes([id, "mine.get", "*", "test.echo"], { [id]: all });
    for (const id of ids) await becomes([id, "mine.get", id, "alias"], { [id]: { [id]: "named" } });
    assertEquals(await site.saltRun(["mine.get", ids[0], "test.echo"]), { [ids[0]]: "hello" });
  });

  await step("mine.send, mine.delete and several names", async () => {
    for (const id of ids) {
      assertEquals(await site.salt([id, "mine.send", "sent", "mine_function=test.echo", "text=x"]), { [id]: true });
      await becomes([id, "mine.get", id, "sent"], { [id]: { [id]: "x" } });
      assertEquals(await site.salt([id, "mine.delete", "sent"]), { [id]: true });
      await becomes([id, "mine.get", id, "sent"], { [id]: {} });
    }
    const [reader] = ids;
    const both = (await site.salt([reader, "mine.get", reader, "test.echo,alias"]))[reader];
    assertEquals(both, { "test.echo": { [reader]: "hello" }, alias: { [reader]: "named" } });
  });

  await step("allow_tgt lets only its target read", async () => {
    for (const id of ids) {
      const expected = id === "web1" ? Object.fromEntries([...ids].sort().map((each) => [each, "s"])) : {};
      await becomes([id, "mine.get", "*", "secret"], { [id]: expected });
    }
  });

  await step("a template of state.apply reads the mine", async () => {
    for (const id of ids) {
      const { code, out } = await site.operate("salt", ["--out=json", id, "state.apply", "mined"]);
      assertEquals(code, 0, out);
      for (const from of ids) assertStringIncludes(out, `"from ${from}"`);
      assertStringIncludes(out, "hello");
    }
  });

  await step("clear replaces all values", async () => {
    for (const id of ids) {
      // Minions of Python Salt only ask for it; their masters fail.
      if (master.version !== undefined && minions[id].version !== undefined) continue;
      assertEquals(
        await site.salt([id, "mine.update", "clear=True", "mine_functions={test.true: []}"]),
        { [id]: true },
      );
      await becomes([id, "mine.get", id, "test.true"], { [id]: { [id]: true } });
      await becomes([id, "mine.get", id, "alias"], { [id]: {} });
    }
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

function parsed(out: string): unknown {
  try {
    return JSON.parse(out);
  } catch {
    return out;
  }
}

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "a minion of {} and ours share the mine of our master", (python, t) => {
    return prove(t, OURS, { web1: python, web2: OURS });
  });
  await testWithPython(version, "our minion and one of {} share the mine of its master", (python, t) => {
    return prove(t, python, { web1: OURS, web2: python });
  });
}
