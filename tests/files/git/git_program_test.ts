/**
 * How git is started: its environment, its limits, and the files that it writes. A script stands in for git.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { StoreError } from "#lib/errors.ts";
import { commitFiles, mountedDirectory } from "#lib/files/git/commit_files.ts";
import { type GitProgramRun, runGitInto, runGitProgram } from "#lib/files/git/git_program.ts";
import { gitfsRemotes } from "#lib/files/git/remote_options.ts";
import { GitRemote } from "#lib/files/git/remote.ts";
import { fileAt, LINK_MODE } from "#lib/files/git/tree.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { toValue } from "#lib/values/value.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A directory, with a script in place of git. */
function withScript(script: string, act: (root: string) => Promise<void>): Promise<void> {
  return withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/bin`);
    Deno.writeTextFileSync(`${root}/bin/git`, `#!/bin/sh\n${script.replaceAll("{root}", root)}\n`, { mode: 0o755 });
    using _path = new SearchPath(`${root}/bin`);
    await act(root);
  });
}

function modeOf(path: string): number {
  return (Deno.statSync(path).mode ?? 0) & 0o7777;
}

const ACCESS = { sslVerify: true, proxy: "", privkey: "", passphrase: "" };

Deno.test("git gets a few of the master's variables, asks nobody for a password, and gives a silent host a minute", () =>
  withScript("exec env", async (root) => {
    Deno.env.set("SALT_TEST_SECRET", "secret");
    try {
      const environment = async (run: Partial<GitProgramRun>) => {
        const { stdout } = await runGitProgram([], { directory: root, ...run });
        const lines = new TextDecoder().decode(stdout).trim().split("\n");
        return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
      };
      const plain = await environment({});
      const own = ["PATH", "HOME", "SSH_AUTH_SOCK", "TMPDIR", "PWD", "SHLVL", "OLDPWD", "_"];
      assertEquals(
        new Map([...plain].filter(([name]) => !own.includes(name)).sort()),
        new Map(Object.entries({
          GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
          GIT_ASKPASS: "",
          GIT_HTTP_LOW_SPEED_LIMIT: "1",
          GIT_HTTP_LOW_SPEED_TIME: "60",
          GIT_TERMINAL_PROMPT: "0",
          LANGUAGE: "C",
          LC_ALL: "C",
        })),
      );
      const asked = await environment({ access: { ...ACCESS, passphrase: "x y", sslVerify: false } });
      const program = asked.get("SSH_ASKPASS") ?? "";
      assertEquals([asked.get("SSH_ASKPASS_REQUIRE"), asked.get("SALT_SSH_PASSPHRASE")], ["force", "x y"]);
      assertEquals([modeOf(program), asked.get("GIT_SSL_NO_VERIFY"), plain.has("GIT_SSL_NO_VERIFY")], [
        0o700,
        "true",
        false,
      ]);
    } finally {
      Deno.env.delete("SALT_TEST_SECRET");
    }
  }));

Deno.test("git that reads a repository is ended after two minutes, and git that fetches after an hour", () =>
  withScript('case " $* " in *" init "*) exit 0;; esac; touch {root}/started; exec sleep 600', async (root) => {
    const overrides = { root_dir: root, id: "m_master", gitfs_remotes: [`file://${root}/served`] };
    const [options] = gitfsRemotes(loadMasterConfig({ configDir: root, readsFiles: false, overrides }).opts, () => {});
    const remote = new GitRemote(options, { cacheRoot: `${root}/cache`, hashType: "sha256" });
    let over = "";
    {
      using time = new SkippedTime();
      const read = runGitProgram([], { directory: root }).then(({ stderr }) => over = stderr);
      await eventually(() => isFile(`${root}/started`), { what: "git" });
      await time.to(110_000);
      assertEquals(over, "");
      await time.to(200_000);
      await read;
      assertEquals(over, "git took longer than 120 seconds");
    }
    Deno.removeSync(`${root}/started`);
    using time = new SkippedTime();
    over = "";
    const fetched = assertRejects(() => remote.fetch().finally(() => over = "over"), StoreError, "3600 seconds");
    await eventually(() => isFile(`${root}/started`), { what: "git fetch" });
    await time.to(3_500_000);
    assertEquals(over, "");
    await time.to(3_700_000);
    await fetched;
    // What it keeps is only its user's.
    assertEquals(modeOf(remote.place.repository), 0o700);
  }));

Deno.test("what git writes goes into a new file that only its user can read, and into no file that is there", () =>
  withScript("echo text", async (root) => {
    const umask = Deno.umask(0);
    try {
      assertEquals(await runGitInto(`${root}/new`, [], { directory: root }), true);
    } finally {
      Deno.umask(umask);
    }
    assertEquals([Deno.readTextFileSync(`${root}/new`), modeOf(`${root}/new`)], ["text\n", 0o600]);
    Deno.writeTextFileSync(`${root}/other`, "old");
    Deno.symlinkSync("other", `${root}/link`);
    for (const name of ["other", "link"]) {
      await assertRejects(() => runGitInto(`${root}/${name}`, [], { directory: root }), Deno.errors.AlreadyExists);
    }
    assertEquals(Deno.readTextFileSync(`${root}/other`), "old");
  }));

Deno.test("the files of a commit are in a directory that only the master's user can enter, whatever the umask", () =>
  withScript("exit 0", async (root) => {
    const umask = Deno.umask(0);
    try {
      const path = await commitFiles("a".repeat(40), { repository: root, directory: `${root}/commits` });
      const mounted = await mountedDirectory(path, "a/b", `${root}/mounts`);
      assertEquals([path, mounted, `${root}/commits`, `${root}/mounts`].map(modeOf), [0o700, 0o700, 0o700, 0o700]);
    } finally {
      Deno.umask(umask);
    }
  }));

Deno.test("a path of a commit leads over a hundred links to its file, and over no more", () => {
  const link = { oid: "2".repeat(40), mode: LINK_MODE };
  const chain = (links: number) => {
    const file = { oid: "1".repeat(40), mode: 0o100644 };
    const names = Array.from({ length: links }, (_, i) => `l${i}`);
    const files = new Map([["end", file], ...names.map((name): [string, typeof link] => [name, link])]);
    const texts = new Map(names.map((name, i) => [name, names[i + 1] ?? "end"]));
    return fileAt({ files, dirs: [], links: texts }, "l0")?.oid;
  };
  assertEquals([chain(1), chain(100), chain(101)], ["1".repeat(40), "1".repeat(40), undefined]);
});

Deno.test("gitfs refuses a remote that would send a password without TLS, or whose name leads to another directory", () => {
  const made = (remote: unknown, more: Record<string, unknown> = {}) => {
    const overrides = { root_dir: "/nonexistent", id: "m_master", gitfs_remotes: [toValue(remote)], ...more };
    return gitfsRemotes(loadMasterConfig({ configDir: "/nonexistent", readsFiles: false, overrides }).opts, () => {});
  };
  const login = { gitfs_user: "u", gitfs_password: "p" };
  assertThrows(() => made("http://127.0.0.1/x", login), Error, "authentication over HTTP without TLS");
  assertEquals(made("http://127.0.0.1/x", { ...login, gitfs_insecure_auth: true }).length, 1);
  assertEquals(made("https://127.0.0.1/x", login).length, 1);
  for (const name of ["..", "a/b"]) {
    assertThrows(() => made({ "https://127.0.0.1/x": [{ name }] }), Error, "its name cannot name a directory");
  }
});
