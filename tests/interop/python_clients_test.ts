/**
 * Python's own programs on the host of our master: LocalClient, RunnerClient, WheelClient, events, `salt` and
 * `salt-run` with users, passwords and tokens. Their output is the same as on Python's own master.
 * @module
 */

import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { OURS, pythonOf, type Salt, testWithPython } from "./salts.ts";
import { jsonDocuments, Site } from "./site.ts";

const SCRIPT = decodeURIComponent(new URL("./python_clients.py", import.meta.url).pathname);

/** The subscribers of 3006 expect a length before each event, so they cannot read a bus of 3007 and 3008, nor ours. */
const VERSIONS = ["3007.15", "3008.3"] as const;

/** What ours says otherwise, because the password is right (docs/differences.md), by the call. */
const OTHERWISE: Readonly<Record<string, string>> = {
  "RunnerClient.cmd_sync, not allowed":
    "AuthorizationError: Authorization error occurred: user fred may not run the runner salt.cmd.",
  "WheelClient.cmd_sync, not allowed":
    "AuthorizationError: Authorization error occurred: user fred may not run the wheel config.values.",
};

/** A site with `master`, two minions of ours, and users. */
async function withMaster<T>(master: Salt, use: (site: Site) => Promise<T>): Promise<T> {
  await using site = new Site();
  Deno.writeTextFileSync(`${site.root}/users`, "fred:secret\n");
  Deno.mkdirSync(`${site.root}/etc/salt/master.d`, { recursive: true });
  Deno.writeTextFileSync(
    `${site.root}/etc/salt/master.d/auth.conf`,
    JSON.stringify({
      external_auth: {
        file: {
          "^filename": `${site.root}/users`,
          fred: ["test.*", { "@runner": ["test.*", "manage.*", "error.*"] }, { "@wheel": ["key.*"] }, "@jobs"],
        },
      },
    }),
  );
  return await site.explain(async () => {
    await site.startMaster(master);
    for (const id of ["m1", "m2"]) {
      site.startMinion(OURS, id);
      await site.keyComes(id, "minions_pre");
    }
    await site.acceptAll();
    for (const id of ["m1", "m2"]) await site.answers(id);
    return await use(site);
  });
}

/** The output of the clients of `python` on the site. */
async function clientResults(python: Salt, site: Site): Promise<Record<string, unknown>> {
  const { code, out, err } = await run([pythonOf(python), SCRIPT, `${site.root}/etc/salt`]);
  assertEquals(code, 0, `${out}${err}`);
  return JSON.parse(out.trim().split("\n").at(-1) ?? "");
}

for (const version of VERSIONS) {
  await testWithPython(version, "the clients of {} say on our master what they say on their own", async (python, t) => {
    await withMaster(OURS, async (site) => {
      // Both wait for time limits of clients most of the time.
      const [theirs, ours] = await Promise.all([
        withMaster(python, (own) => clientResults(python, own)),
        clientResults(python, site),
      ]);
      assertEquals(theirs["cmd by token"], { m1: true, m2: true }, "Python's clients work on Python's master");
      for (const [call, expected] of Object.entries(theirs)) {
        await t.step(call, () => assertEquals(ours[call], OTHERWISE[call] ?? expected));
      }
      if (version !== VERSIONS.at(-1)) return;
      await t.step("salt -a, its token, and salt-run -a", () => commandLines(python, site));
    });
  });
}

async function commandLines(python: Salt, site: Site): Promise<void> {
  const tokenFile = `${site.root}/token`;
  Deno.writeTextFileSync(`${site.root}/etc/salt/master.d/token.conf`, JSON.stringify({ token_file: tokenFile }));
  const who = ["-a", "file", "--username", "fred"];
  const salt = async (...words: string[]) => await site.operate("salt", ["--out=json", ...words], python);
  const pings = { m1: true, m2: true };
  const batch = await salt(...who, "--password", "secret", "-b", "1", "*", "test.ping");
  for (const id of ["m1", "m2"]) assertStringIncludes(batch.out, `"${id}": true`, batch.err);
  const refused = await salt(...who, "--password", "secret", "*", "cmd.run", "id");
  assertStringIncludes(refused.out + refused.err, "Authorization error occurred.");
  const wrong = await salt(...who, "--password", "x", "*", "test.ping");
  assertStringIncludes(wrong.out + wrong.err, "Authentication error occurred.");
  const ran = await site.operate("salt-run", ["--out=json", ...who, "--password", "secret", "test.arg", "1"], python);
  assertEquals(JSON.parse(ran.out.slice(ran.out.indexOf("{"))), { args: [1], kwargs: {} }, ran.err);
  // With a token, root would authenticate by the master's key, so the requests to be denied come first.
  const first = await salt("-T", ...who, "--password", "secret", "*", "test.ping");
  assertEquals(jsonDocuments(first.out), pings, first.err);
  assert(lexistsOrThrow(tokenFile), "salt -T keeps its token");
  assertEquals(jsonDocuments((await salt("*", "test.ping")).out), pings, "by the token alone");
  // A token of Python's command is valid for ours, and the other way round.
  const ours = await site.operate("salt", ["--out=json", "-a", "file", "*", "test.ping"]);
  assertEquals(jsonDocuments(ours.out), pings, ours.err);
  Deno.removeSync(tokenFile);
  const made = await site.operate("salt", ["--out=json", "-T", ...who, "--password", "secret", "*", "test.ping"]);
  assertEquals(jsonDocuments(made.out), pings, made.err);
  assertEquals(jsonDocuments((await salt("*", "test.ping")).out), pings, "by the token that ours made");
}
