/**
 * The passwords of a repository: their place, their URLs, and git's use of keys of the file server.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { hideLogins } from "#lib/host/git/logins.ts";
import { runGit } from "#lib/host/git/run_git.ts";
import { knownLogins, storeLogins } from "#lib/host/git/stored_logins.ts";
import { findUser } from "#lib/os/users.ts";
import type { ChildRunner } from "#lib/programs/child_process.ts";
import { assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { git } from "#tests/support/files/file_server.ts";

const LOGIN = { origin: "https://me@host", password: "secret" };

async function withRepository(test: (repository: string, root: string) => Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "git_logins_" });
  try {
    await git(["init", "--quiet", `${root}/repository`]);
    await test(`${root}/repository`, root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("a password is stored beside git's configuration, also of a worktree and of a bare repository", () =>
  withRepository(async (repository, root) => {
    const store = { kept: [], added: [LOGIN] };
    await storeLogins({ cwd: repository }, store, testContext());
    assertEquals(knownLogins(repository).stored, [LOGIN]);
    assertEquals((Deno.statSync(`${repository}/.git/salt-credentials`).mode ?? 0) & 0o777, 0o600);

    Deno.mkdirSync(`${root}/worktree`);
    Deno.mkdirSync(`${repository}/.git/worktrees/w`, { recursive: true });
    Deno.writeTextFileSync(`${repository}/.git/worktrees/w/commondir`, "../..\n");
    Deno.writeTextFileSync(`${root}/worktree/.git`, `gitdir: ${repository}/.git/worktrees/w\n`);
    assertEquals(knownLogins(`${root}/worktree`).stored, [LOGIN]);
    Deno.writeTextFileSync(`${root}/worktree/.git`, "no directory of git\n");
    assertEquals(knownLogins(`${root}/worktree`), { stored: [], configured: [] });

    await git(["init", "--quiet", "--bare", `${root}/bare`]);
    await storeLogins({ cwd: `${root}/bare` }, store, testContext());
    assertEquals(knownLogins(`${root}/bare`).stored, [LOGIN]);
    await storeLogins({ cwd: `${root}/bare` }, { kept: [], added: [] }, testContext());
    assertEquals(knownLogins(`${root}/bare`).stored, []);
  }));

Deno.test("outside of a repository nothing is stored, and a password without a place is rejected", () =>
  withRepository(async (_repository, root) => {
    await storeLogins({ cwd: root }, { kept: [], added: [] }, testContext());
    const add = () => storeLogins({ cwd: root }, { kept: [], added: [LOGIN] }, testContext());
    await assertRejects(add, CommandError, `${root} is not in a git repository`);
  }));

Deno.test("of two passwords of one user at one host the last is stored and this is reported; a failure is reported without passwords", () =>
  withRepository(async (repository) => {
    const context = testContext();
    const added = [LOGIN, { ...LOGIN, password: "other" }];
    await storeLogins({ cwd: repository }, { kept: [], added }, context);
    assertEquals(knownLogins(repository).stored, added.slice(1));
    const file = `${repository}/.git/salt-credentials`;
    Deno.removeSync(file);
    Deno.mkdirSync(`${repository}/elsewhere`);
    Deno.symlinkSync(`${repository}/elsewhere`, file);
    await storeLogins({ cwd: repository }, { kept: [], added }, testContext());
    assertEquals([Deno.lstatSync(file).isFile, [...Deno.readDirSync(`${repository}/elsewhere`)]], [true, []]);
    assertEquals(new Set(context.logged.filter((line) => line.startsWith("warning"))).size, 1);
    assertMatch(context.logged.join("\n"), /git can keep one password for https:\/\/me@host/);

    Deno.removeSync(file);
    Deno.mkdirSync(`${file}/full`, { recursive: true });
    const error = await assertRejects(
      () => storeLogins({ cwd: repository }, { kept: [], added }, testContext()),
      CommandError,
      `The login cannot be stored in ${repository}/.git: `,
    );
    assertEquals(error.message.includes("other"), false);
  }));

Deno.test("bytes of a password that are not UTF-8 stay as they are written", () => {
  const { env } = hideLogins(["clone", "https://me:a%FF%20b@host/x"], { stored: [], configured: [] }, 0);
  assertEquals(Object.values(env).some((value) => value.includes("a%FF%20b")), true, JSON.stringify(env));
});

Deno.test("a key of the file server is available to git's user while git runs", async () => {
  const user = findUser(Deno.uid() ?? 0)?.name;
  const seen: string[] = [];
  const runChild: ChildRunner = (spec) => {
    const command = spec.env.GIT_SSH_COMMAND ?? spec.argv.find((word) => word.startsWith("GIT_SSH_COMMAND=")) ?? "";
    const path = /-i '?([^' ]+)/.exec(command)?.[1] ?? "";
    seen.push(path, Deno.readTextFileSync(path), String((Deno.statSync(path).mode ?? 0) & 0o777));
    const outcome = { pid: 1, retcode: 0, stdout: new Uint8Array(), stderr: new Uint8Array(), timedOut: false };
    return Promise.resolve({ ...outcome, dropped: { stdout: 0, stderr: 0 } });
  };
  const call = (_name: string, args: readonly unknown[] = []) => {
    if (args[0] !== "salt://key") return Promise.resolve("");
    Deno.writeTextFileSync(String(args[1]), "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n");
    return Promise.resolve(String(args[1]));
  };
  const context = testContext({ runChild, call });
  await runGit(["fetch"], { cwd: "/", identity: ["salt://missing", "salt://key"], user }, context);
  assertEquals(seen.slice(1), ["-----BEGIN OPENSSH PRIVATE KEY-----\nx\n", String(0o600)]);
  await assertRejects(() => Deno.stat(seen[0]), Deno.errors.NotFound);
  assertMatch(context.logged.join("\n"), /error: identity salt:\/\/missing does not exist\./);
});
