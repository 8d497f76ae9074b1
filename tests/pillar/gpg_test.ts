/**
 * gpg in pillar with the real program: a file, an external pillar, `decrypt_pillar`, and the pillar of a caller.
 * @module
 */

import { which } from "#lib/programs/which.ts";
import { map, repr } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";

const ignore = which("gpg") === undefined;

async function gpg(home: string, args: readonly string[], input = ""): Promise<string> {
  const child = new Deno.Command("gpg", {
    args: [
      "--homedir",
      home,
      "--batch",
      "--yes",
      "--quiet",
      "--pinentry-mode",
      "loopback",
      "--passphrase",
      "",
      ...args,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await child.output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** A GnuPG directory with a key. Disposing stops its agent. */
async function withKey(act: (home: string, seal: (text: string) => Promise<string>) => Promise<void>): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "gpg_" });
  try {
    await gpg(home, ["--quick-generate-key", "salt@example.org", "future-default", "default", "never"]);
    await act(home, (text) => gpg(home, ["--armor", "--trust-model", "always", "-r", "salt@example.org", "-e"], text));
  } finally {
    await new Deno.Command("gpgconf", { args: ["--homedir", home, "--kill", "all"] }).output();
    await Deno.remove(home, { recursive: true });
  }
}

const indent = (text: string, by: string) => text.trim().replaceAll("\n", `\n${by}`);

Deno.test({
  name: `gpg decrypts what a file, an external pillar, an option or a caller has encrypted${ignore ? " (no gpg)" : ""}`,
  ignore,
  fn: () =>
    withKey(async (home, seal) => {
      const [one, two, three] = await Promise.all(["one\nlines: é", "two", "three"].map(seal));
      const files = {
        "pillar/top.sls": "base:\n  '*': [file, later]\n",
        "pillar/file.sls": `#!yaml|gpg\nfile:\n  - |\n    ${indent(one, "    ")}\n`,
        "pillar/later.sls": `later:\n  deep: |\n    ${indent(two, "    ")}\nextern: |\n  ${indent(three, "  ")}\n`,
      };
      const options = `{gpg_keydir: ${home}, decrypt_pillar: ['later:deep'], ext_pillar: [{gpg: {}}]}`;
      await withPillar(files, options, async ({ pillar }) => {
        assertEquals(
          await pillar(),
          "{'file': ['one\\nlines: é'], 'later': {'deep': 'two'}, 'extern': 'three'}",
        );
      });
      await withPillar(files, `{gpg_keydir: ${home}, decrypt_pillar: [{'later:deep': nacl}]}`, async ({ pillar }) => {
        const rendered = await pillar();
        assertStringIncludes(rendered, "'later': {'deep': '-----BEGIN PGP MESSAGE-----");
        assertStringIncludes(rendered, "'nacl' is not a valid decryption renderer");
      });

      // The caller's pillar: a map of encrypted strings, or one encrypted map.
      const opts = testOpts({ root_dir: "/nowhere", gpg_keydir: home, file_client: "local" });
      const overrides: string[] = [];
      const job = testContext({ opts });
      const outside = {
        ...job.outside,
        pillar: (wanted: { override?: unknown }) => {
          overrides.push(repr((wanted.override ?? null) as never));
          return Promise.resolve(map({}));
        },
      };
      const show = async (pillar: string, renderer = "gpg") =>
        await run("state.show_sls", ["nothing", `pillar=${pillar}`, `pillar_enc=${renderer}`], { ...job, outside });
      await show(`{"secret": ${JSON.stringify(one)}}`);
      await show(JSON.stringify(await seal("whole: {map: 1}\n")));
      assertEquals(overrides, ["{'secret': 'one\\nlines: é'}", "{'whole': {'map': 1}}"]);
      const refused = await show("{}", "jinja");
      assertStringIncludes(repr(refused.return), "'jinja' is not a valid decryption renderer");
    }),
});
