/**
 * Copied scripts, changes of the user without setpriv, and searched files of a host.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { loginEnvironment } from "#lib/programs/command_environment.ts";
import { wrapCommand } from "#lib/programs/command_wrapper.ts";
import { HostFiles } from "#lib/programs/files.ts";
import { shellInfo } from "#lib/programs/shell_info.ts";
import { copyScript } from "#lib/programs/script_source.ts";
import { findUser } from "#lib/os/users.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a script that does not render leaves no copy", () =>
  withTemporaryDirectory(async (directory) => {
    const script = `${directory}/script.sh`;
    Deno.writeTextFileSync(script, "echo {{ nothing");
    const copies = `${directory}/copies`;
    Deno.mkdirSync(copies, { mode: 0o700 });
    const copy = {
      directory: copies,
      signal: new AbortController().signal,
      fetch: () => Promise.resolve(undefined),
      render: (text: string) => Promise.reject(new CommandError(`cannot render ${text}`)),
    };
    // A directory that others control is not used, so copies may be in the system's directory.
    const before = [...Deno.readDirSync(copies)].length;
    await assertRejects(() => copyScript(script, copy), CommandError, "cannot render echo {{ nothing");
    assertEquals([...Deno.readDirSync(copies)].length, before);
  }));

Deno.test({
  name: "the runtime changes the user if there is only Busybox's setpriv",
  ignore: Deno.uid() !== 0 || findUser("nobody") === undefined,
  fn() {
    const user = findUser("nobody");
    const wrapping = { user, group: undefined, umask: undefined, joinOutput: false, env: {} };
    const { realPathSync } = Deno;
    Deno.realPathSync = () => "/bin/busybox";
    try {
      const { argv, user: as } = wrapCommand(["id"], wrapping);
      assertEquals([argv.at(-1), as], ["id", { uid: user?.uid ?? 0, gid: user?.gid ?? 0 }]);
    } finally {
      Deno.realPathSync = realPathSync;
    }
  },
});

Deno.test("after a login that fails only the user's name and home are known, and its reason is logged", async () => {
  const user = { passwd: "x", name: "nobody", uid: 65_534, gid: 65_534, gecos: "", home: "/h", shell: "" };
  using programs = new RecordedPrograms();
  const logged: string[] = [];
  const log = (_level: "error", message: string) => logged.push(message);
  const signal = new AbortController().signal;
  for (const [stderr, reason] of [["su: no\n", "su: no"], ["", "no answer"]]) {
    programs.answer("su", [{ args: "*", stderr, code: 1 }]);
    assertEquals(await loginEnvironment(user, { shell: null, signal, log }), { USER: "nobody", HOME: "/h" });
    assertEquals(logged.pop(), `Environment could not be retrieved for user 'nobody': ${reason}`);
  }
  // The file exists but is not a program: it cannot be started.
  Deno.writeTextFileSync(`${programs.path}/su`, "\x7fELF no program", { mode: 0o755 });
  assertEquals(await loginEnvironment(user, { shell: null, signal, log }), { USER: "nobody", HOME: "/h" });
  assertMatch(logged.join("\n"), /^Environment could not be retrieved for user 'nobody': ./);
  const ended = AbortSignal.abort(new Error("The job was told to end"));
  await assertRejects(() => loginEnvironment(user, { shell: "/bin/sh", signal: ended, log }), Error, "told to end");
});

Deno.test("a shell has a version, or the reason why it is not known", async () => {
  using programs = new RecordedPrograms();
  const info = (shell: string) => shellInfo(shell, testContext());
  programs.answer("zsh", [{ args: "--version", stdout: "zsh 5.9 (x86_64-debian-linux-gnu)\n" }]);
  const version = { version_raw: "5.9", version: "5.9" };
  assertEquals(await info("zsh"), { installed: true, path: `${programs.path}/zsh`, ...version });
  programs.answer("zsh", [{ args: "--version", stdout: "Timed out after 10 seconds\n" }]);
  const reason = (command: string, why: string) => `Unable to run command '${command}' Reason: ${why}`;
  assertEquals(await info("zsh"), { error: reason("zsh --version", "Timed out."), installed: false });
  const missing = "[Errno 2] No such file or directory: 'cmd.exe'";
  assertEquals(await info("cmd"), { error: reason("cmd.exe /C ver", missing), installed: false });
  assertEquals((await info("fish")).installed, null);
});

Deno.test("a file is searched for a word until the expected text follows the word", () =>
  withTemporaryDirectory((directory) => {
    Deno.writeTextFileSync(`${directory}/library`, "xPAM no\0-PAM +AUDIT end\0PAM");
    const files = new HostFiles(directory);
    const found = (word: string, form: RegExp) => files.search("/library", word, (piece) => form.exec(piece)?.[0]);
    assertEquals(found("PAM ", /^[-+]PAM \+\w+/), "-PAM +AUDIT");
    assertEquals(found("PAM ", /^\?PAM/), undefined);
    assertEquals(found("absent", /./), undefined);
    assertEquals(files.search("/none", "PAM ", (piece) => piece), undefined);
    return Promise.resolve();
  }));
