/**
 * `salt -a` on a terminal: it asks for user name and password, and does not show the password.
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const PASSWORD = "correct-horse-battery";
const ENTRY = decodeURIComponent(new URL("../../salt.ts", import.meta.url).pathname);
/** Time limit for the next prompt of a command, in milliseconds. */
const WITHIN_MS = 60_000;

const directory = Deno.makeTempDirSync({ prefix: "prompt_" });
Deno.writeTextFileSync(`${directory}/users`, `fred:${PASSWORD}\n`);

/** Runs a shell command on its own terminal and types each answer, with a newline, when its prompt appears. */
async function typed(
  command: string,
  answers: readonly (readonly [question: RegExp, answer: string])[],
): Promise<{ readonly shown: string; readonly code: number }> {
  const child = new Deno.Command("script", {
    args: ["-qec", command, "/dev/null"],
    env: { HOME: directory, SHELL: "/bin/sh", TERM: "dumb", NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    signal: AbortSignal.timeout(WITHIN_MS),
  }).spawn();
  const keys = child.stdin.getWriter();
  let shown = "", from = 0;
  const left = [...answers];
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    shown += text;
    const question = left[0]?.[0].exec(shown.slice(from));
    if (!question) continue;
    from += question.index + question[0].length;
    await keys.write(new TextEncoder().encode(`${left.shift()?.[1]}\r`));
  }
  await keys.close().catch(() => {}); // the terminal is closed
  return { shown, code: (await child.status).code };
}

fleetTest("salt -a asks for missing credentials, and shows the typed user name but not the password", {
  minions: ["web1"],
  master: { external_auth: { file: { "^filename": `${directory}/users`, fred: ["test.ping"] } } },
}, async (fleet) => {
  try {
    const salt = `'${Deno.execPath()}' run -A --quiet --no-prompt '${ENTRY}' -c '${fleet.configDir}' --out=txt -a file`;
    const name = [/file username \[[^\]]+\]: $/, "fred"] as const;
    const password = (answer: string) => [/file password of fred: $/, answer] as const;

    const good = await typed(`${salt} web1 test.ping`, [name, password(`x\x15${PASSWORD}`)]);
    assertEquals(good.code, 0, good.shown);
    assertMatch(good.shown, /username \[[^\]]+\]: fred\r\nfile password of fred: \r\nweb1: True\r\n/);

    const wrong = await typed(`${salt} --username fred web1 test.ping`, [password("wrong horse")]);
    assertEquals(wrong.code, 77, wrong.shown);
    for (const { shown } of [good, wrong]) assert(!shown.includes("horse"), shown);

    const corrected = await typed(`${salt} web1 test.ping`, [
      [name[0], "frex\u00e9\x7f\x08d"],
      password(`${PASSWORD}\u00e9\x7f`),
    ]);
    assertEquals(corrected.code, 0, corrected.shown);
    // Each removed character is overwritten on the screen.
    const screen = `: frex\u00e9${"\b \b".repeat(2)}d\r\nfile password of fred: \r\nweb1: True\r\n`;
    assertStringIncludes(corrected.shown, screen);

    // The end of the input, by Ctrl-D and of a file.
    const ended = await typed(`${salt} --username fred web1 test.ping`, [password("\x04")]);
    assertEquals(ended.code, 64, ended.shown);
    for (const [input, code] of [[`fred\\r\\n${PASSWORD}`, 0], ["fred\\n", 64]] as const) {
      const piped = await typed(`printf '${input}' | ${salt} web1 test.ping`, []);
      assertEquals(piped.code, code, piped.shown);
    }

    const interrupted = await typed(`${salt} --username fred web1 test.ping`, [password("half\x03")]);
    assertEquals(interrupted.code, 130, interrupted.shown);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});
