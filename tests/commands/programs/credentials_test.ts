/**
 * The credentials of the operator's commands: prompts without an answer, tokens that the master does not create.
 * @module
 */

import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const PASSWORD = "correct-horse-battery";
const directory = Deno.makeTempDirSync({ prefix: "credentials_" });
Deno.writeTextFileSync(`${directory}/users`, `fred:${PASSWORD}\n`);
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const AUTH = ["--eauth=file"];
const AS_FRED = [...AUTH, "--username=fred"];

fleetTest("missing credentials, and credentials that the master rejects, end a command", {
  master: {
    external_auth: { file: { "^filename": `${directory}/users`, fred: ["test.*", "@runner", "@wheel"] } },
    // No token can be stored here.
    token_file: `${directory}/users/token`,
  },
}, async (fleet) => {
  const commands = {
    "salt": (...words: string[]) => fleet.salt(...words, "*", "test.ping"),
    "salt-run": (...words: string[]) => fleet.saltRun(...words, "test.arg"),
    "salt-key": (...words: string[]) => fleet.saltKey(...words, "-L"),
  };
  for (const [name, run] of Object.entries(commands)) {
    const unanswered = await run(...AUTH);
    assertEquals(unanswered.code, 64);
    assertMatch(unanswered.err, new RegExp(`\\n${name}: error: --auth needs a name and a password\\n$`));

    const wrong = await run(...AS_FRED, "--password=wrong", "-T");
    assertEquals(wrong, { code: 77, out: "", err: `${name}: Authentication error occurred.\n` });

    const kept = await run(...AS_FRED, `--password=${PASSWORD}`, "-T");
    assertMatch(kept.err, /^\[WARNING \] The token is not kept in .*\/users\/token: .*Not a directory/);
    assertEquals(kept.code, name === "salt" ? 2 : 0, kept.err);
  }
  const both = await fleet.salt(...AS_FRED, `--password=${PASSWORD}`, "-b1", "--async", "*", "test.ping");
  assertEquals(both.code, 64);
  assertMatch(both.err, /--async with --batch cannot go with -a or -T: the password would not be stored\n$/);
  const later = await fleet.saltRun(...AS_FRED, "--async", "test.arg");
  assertMatch(later.err, /salt-run: error: --async cannot go with --auth\n$/);

  // Ctrl-C while the master runs the function.
  const control = new AbortController();
  using events = await fleet.listen("salt/run/");
  const running = fleet.saltRunWith(
    { signal: control.signal },
    ...AS_FRED,
    `--password=${PASSWORD}`,
    "test.sleep",
    "1",
  );
  await events.next(60_000, (tag) => tag.endsWith("/new"));
  control.abort();
  assertEquals(await running, { code: 130, out: "", err: "\nExiting gracefully on Ctrl-c\n" });
});
