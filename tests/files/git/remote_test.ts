/**
 * The repository that a master keeps of a remote: what is taken out of it, what is removed when it is old, and what is
 * said of one that git cannot read. git itself runs.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { StoreError } from "#lib/errors.ts";
import { commitFiles, mountedDirectory, removeOldCommits } from "#lib/files/git/commit_files.ts";
import { runGitInto, runGitProgram } from "#lib/files/git/git_program.ts";
import { gitfsRemotes } from "#lib/files/git/remote_options.ts";
import { GitRemote } from "#lib/files/git/remote.ts";
import { fileAt, LINK_MODE, parseBatch } from "#lib/files/git/tree.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { git } from "#tests/support/files/file_server.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const DAY_MS = 86_400_000;

/** A repository with a directory, a file in it, and a link to that. */
const HISTORY = `commit refs/heads/main
committer t <t@example.com> 1 +0000
data 1
x
M 644 inline d/a
data 2
a

M 120000 inline link
data 11
./d/..//d/a
M 120000 inline out
data 6
../../
M 120000 inline round
data 5
round
`;

async function withRemote(act: (remote: GitRemote, root: string) => Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "remote_" });
  try {
    await git(["init", "--quiet", "--bare", "--initial-branch=main", `${root}/served`]);
    await git(["-C", `${root}/served`, "fast-import", "--quiet"], HISTORY);
    await act(remoteOf(root, `file://${root}/served`), root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

function remoteOf(root: string, url: string): GitRemote {
  const overrides = { root_dir: root, id: "m_master", gitfs_remotes: [url] };
  const { opts } = loadMasterConfig({ configDir: root, readsFiles: false, overrides });
  const [options] = gitfsRemotes(opts, () => {});
  return new GitRemote(options, { cacheRoot: `${root}/cache`, hashType: "sha256" });
}

/** Its one commit, after a fetch. */
async function fetched(remote: GitRemote): Promise<string> {
  assertEquals(await remote.fetch(), "changed");
  return [...(await remote.refs()).values()][0];
}

function makeOld(path: string, days: number): void {
  const then = new Date(Date.now() - days * DAY_MS);
  Deno.utimeSync(path, then, then);
}

function names(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

/** A program in place of git. */
async function withGit(root: string, script: string, act: () => Promise<void>): Promise<void> {
  Deno.mkdirSync(`${root}/bin`, { recursive: true });
  Deno.writeTextFileSync(`${root}/bin/git`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  using _path = new SearchPath(`${root}/bin`);
  await act();
}

Deno.test("an object is taken out of the repository once, and again after it was unused for a week", () =>
  withRemote(async (remote) => {
    await remote.reap(); // nothing was taken out yet
    const commit = await fetched(remote);
    const tree = await remote.tree(commit);
    const oid = fileAt(tree, "d/a")?.oid ?? "";
    const [first, second] = [remote.blob(oid), remote.blob(oid)];
    assertEquals(first, second, "two requests at once make one process");
    const path = await first;
    assertEquals(Deno.readTextFileSync(path), "a\n");
    makeOld(path, 6);
    await remote.reap();
    assertEquals(await remote.blob(oid), path);
    makeOld(path, 8);
    Deno.writeTextFileSync(`${path.split("/").slice(0, -2).join("/")}/no_directory`, "");
    await remote.reap();
    assertEquals(names(path.slice(0, path.lastIndexOf("/"))), []);
    assertEquals(Deno.readTextFileSync(await remote.blob(oid)), "a\n");
  }));

Deno.test("links within a commit lead to its files, and neither out of it nor round for ever", () =>
  withRemote(async (remote) => {
    const tree = await remote.tree(await fetched(remote));
    assertEquals(fileAt(tree, "link"), fileAt(tree, "d/a"));
    assertEquals([fileAt(tree, "out"), fileAt(tree, "round"), fileAt(tree, "d")], [undefined, undefined, undefined]);
  }));

Deno.test("a link that leaves the commit leads to no file, also where its way back would name one", () => {
  const file = { oid: "1".repeat(40), mode: 0o100644 };
  const link = { oid: "2".repeat(40), mode: LINK_MODE };
  const at = (path: string, text: string) =>
    fileAt({ files: new Map([["d/a", file], [path, link]]), dirs: ["d"], links: new Map([[path, text]]) }, path);
  assertEquals([at("l", "d/a"), at("d/l", "a"), at("d/l", "../d/a"), at("d/l", "./../d//a")], Array(4).fill(file));
  const leaving = ["../d/a", "d/../../d/a", "../../d/a", "/d/a", "..", ""];
  for (const text of leaving) assertEquals(at("l", text), undefined, text);
  assertEquals([at("d/l", "../../d/a"), at("d/l", "../../../d/a")], [undefined, undefined]);
});

Deno.test("git runs no program for the URL of a remote, also where its configuration would allow it", () =>
  withTemporaryDirectory(async (root) => {
    await git(["init", "--quiet", "--bare", root]);
    const access = { sslVerify: true, proxy: "", privkey: "", passphrase: "" };
    for (const [name, url] of [["ext", `ext::touch ${root}/ran`], ["own", `own::${root}/ran`]]) {
      await git(["-C", root, "config", `protocol.${name}.allow`, "always"]);
      const { ok, stderr } = await runGitProgram(["ls-remote", url], { directory: root, access });
      assertEquals([ok, stderr.includes(`transport '${name}' not allowed`)], [false, true], stderr);
    }
    assertEquals(names(root).includes("ran"), false);
  }));

Deno.test("a commit is named by its hash, or the beginning of it, and by nothing else that git would take for one", () =>
  withRemote(async (remote) => {
    const commit = await fetched(remote);
    assertEquals([await remote.commit(commit), await remote.commit(commit.slice(0, 8))], [commit, commit]);
    const names = ["HEAD", "FETCH_HEAD", "main", "@", "--all", "", commit.slice(0, 3), `${commit}~0`, `${commit}\n`];
    for (const name of names) assertEquals(await remote.commit(name), undefined, JSON.stringify(name));
  }));

Deno.test("an object that is missing is an error that names it, and leaves no file", () =>
  withRemote(async (remote) => {
    await fetched(remote);
    const oid = "1".repeat(40);
    await assertRejects(() => remote.blob(oid), StoreError, `git does not give the object ${oid}`);
    const { repository } = remote.place;
    assertEquals(names(`${repository}/../blobs/11`), []);
    await assertRejects(() => remote.tree(oid), StoreError, `git ls-tree of ${oid} failed: `);
    await assertRejects(() => commitFiles(oid, remote.place), StoreError, `git does not give the files of ${oid}: `);
    assertEquals(names(remote.place.directory), []);
  }));

Deno.test("more readers than four at a time wait for their turn", () =>
  withRemote(async (remote, root) => {
    await fetched(remote);
    const place = `${root}/running`;
    Deno.mkdirSync(place);
    const script = `touch ${place}/$$; ls ${place} | wc -l >> ${root}/seen; sleep 0.05; rm ${place}/$$; echo 1`;
    await withGit(root, script, async () => {
      const commits = Array.from({ length: 12 }, (_, i) => `abcd${i}`);
      assertEquals(await Promise.all(commits.map((name) => remote.commit(name))), commits.map(() => "1"));
    });
    const seen = Deno.readTextFileSync(`${root}/seen`).trim().split("\n").map(Number);
    assertEquals(seen.length, 12);
    assert(Math.max(...seen) <= 4, seen.join(" "));
  }));

Deno.test("four read a repository at the same time", () =>
  withRemote(async (remote, root) => {
    await fetched(remote);
    const place = `${root}/running`;
    Deno.mkdirSync(place);
    // Each ends when all four are there; after a minute it gives up.
    const script = `touch ${place}/$$; n=0; while [ $(ls ${place} | wc -l) -lt 4 ]; do
      n=$((n + 1)); [ $n -gt 1200 ] && exit 1; sleep 0.05; done; echo 1`;
    await withGit(root, script, async () => {
      const commits = ["abcd0", "abcd1", "abcd2", "abcd3"];
      assertEquals(await Promise.all(commits.map((name) => remote.commit(name))), ["1", "1", "1", "1"]);
    });
  }));

Deno.test("a name that is no commit is asked of git once, until a thousand others were, or a fetch brings something", () =>
  withRemote(async (remote, root) => {
    await fetched(remote);
    let asked = 0;
    /** Not a thousand processes: each is counted, and does not start. */
    class Refused extends Deno.Command {
      constructor(...words: ConstructorParameters<typeof Deno.Command>) {
        super(...words);
        asked++;
        throw new Error("no process");
      }
    }
    const count = async (names: readonly string[]) => {
      asked = 0;
      await withReplaced(Deno, { name: "Command", by: Refused }, async () => {
        for (const name of names) assertEquals(await remote.commit(name), undefined);
      });
      return asked;
    };
    assertEquals([await count(["abcd"]), await count(["abcd"])], [1, 0]);
    const others = Array.from({ length: 1_000 }, (_, i) => `beef${i}`);
    assertEquals([await count(others), await count(["abcd"]), await count(others.slice(-9))], [1_000, 1, 0]);
    await git(["-C", `${root}/served`, "branch", "other", "main"]);
    assertEquals(await remote.fetch(), "changed");
    await remote.refs();
    assertEquals(await count(["abcd"]), 1);
  }));

Deno.test("each step of git that fails is an error of its own", () =>
  withRemote(async (remote, root) => {
    const commit = await fetched(remote);
    const failing = (word: string) =>
      `case " $* " in *" ${word} "*) echo broken >&2; exit 1;; esac; exec /usr/bin/env -i PATH=${
        Deno.env.get("PATH")
      } git "$@"`;
    const fresh = remoteOf(`${root}/fresh`, `file://${root}/served`);
    await withGit(root, failing("init"), async () => {
      const { message } = await assertRejects(() => fresh.fetch(), StoreError);
      assert(/^git init of .*\/_ failed: broken$/.test(message), message);
    });
    await withGit(root, failing("for-each-ref"), async () => {
      const { message } = await assertRejects(() => remote.fetch(), StoreError);
      assertEquals(message, "git for-each-ref failed: broken");
    });
    await withGit(root, failing("cat-file"), async () => {
      const { message } = await assertRejects(() => remote.tree(commit), StoreError);
      assertEquals(message, "git cat-file failed: broken");
    });
    // The failure was not kept.
    assertEquals((await remote.tree(commit)).links.get("out"), "../../");
  }));

Deno.test("a run of git ends at its limit, at a stop, and without git, as a result", () =>
  withTemporaryDirectory(async (root) => {
    await withGit(root, "sleep 5", async () => {
      const slow = await runGitProgram([], { directory: root, limitMs: 20 });
      assertEquals([slow.ok, slow.stderr], [false, "git took longer than 0.02 seconds"]);
      const stopped = await runGitProgram([], { directory: root, signal: AbortSignal.abort() });
      assertEquals([stopped.ok, stopped.stderr], [false, "the update was stopped"]);
    });
    await withGit(root, "head -c 10000 /dev/zero | tr '\\0' x >&2; exit 3", async () => {
      const wordy = await runGitProgram([], { directory: root });
      assertEquals(wordy.ok, false);
      assert(wordy.stderr.length <= 4_096);
    });
    const missing = await runGitProgram([], { directory: `${root}/nowhere` });
    assertEquals(missing.ok, false);
    assertStringIncludes(missing.stderr, "nowhere");
    assertEquals(await runGitInto(`${root}/file`, [], { directory: `${root}/nowhere` }), false);
    const { get } = Deno.env;
    Deno.env.get = (name) => name === "PATH" ? root : get.call(Deno.env, name);
    try {
      assertEquals((await runGitProgram([], { directory: root })).stderr, "git is not installed");
    } finally {
      Deno.env.get = get;
    }
  }));

Deno.test("a directory of a commit is made once, its use is noted, and an unused one is removed", () =>
  withRemote(async (remote) => {
    await removeOldCommits(remote.place, new Set()); // before the first
    const commit = await fetched(remote);
    const path = await commitFiles(commit, remote.place);
    assertEquals(Deno.readTextFileSync(`${path}/d/a`), "a\n");
    const mounted = await mountedDirectory(path, "srv/pillar", remote.place.directory);
    assertEquals(Deno.readTextFileSync(`${mounted}/srv/pillar/d/a`), "a\n");
    assertEquals(await mountedDirectory(path, "srv/pillar", remote.place.directory), mounted);
    const other = await mountedDirectory(path, "srv", remote.place.directory);
    assertEquals(Deno.readTextFileSync(`${other}/srv/link`), "a\n");
    // What is in a repository is for the master alone.
    const modes = [path, mounted, other, `${mounted}/srv`].map((one) => (Deno.statSync(one).mode ?? 0) & 0o777);
    assertEquals(modes, Array(4).fill(0o700));
    for (const one of [path, mounted, other]) makeOld(one, 2);
    assertEquals(await commitFiles(commit, remote.place), path);
    const { mtime } = Deno.lstatSync(path);
    assert(Date.now() - Number(mtime) < DAY_MS, "it is in use again");
    makeOld(path, 2);
    await mountedDirectory(path, "srv", remote.place.directory);
    await removeOldCommits(remote.place, new Set([commit]));
    const kept = [path, other].map((one) => one.slice(one.lastIndexOf("/") + 1)).sort();
    assertEquals(names(remote.place.directory), kept);
  }));

Deno.test("two that make the directory of a commit at once get the same one", () =>
  withRemote(async (remote) => {
    const commit = await fetched(remote);
    const [first, second] = await Promise.all([commitFiles(commit, remote.place), commitFiles(commit, remote.place)]);
    assertEquals(first, second);
    assertEquals(names(remote.place.directory), [commit]);
  }));

Deno.test("objects that git does not have are no texts, and what is after them is read", () => {
  const oid = "1".repeat(40);
  const output = new TextEncoder().encode(`${"2".repeat(40)} missing\n${oid} blob 3\na\nb\n`);
  assertEquals([...parseBatch(output)], [[oid, "a\nb"]]);
  assertEquals([...parseBatch(new TextEncoder().encode("torn"))], []);
});

Deno.test("processes that make the same directory at the same time use one of them", () =>
  withRemote(async (remote, root) => {
    const commit = await fetched(remote);
    const place = { repository: `${root}/served`, directory: `${root}/commits` };
    const commits = await Promise.all(Array.from({ length: 4 }, () => commitFiles(commit, place)));
    assertEquals(new Set(commits), new Set([`${root}/commits/${commit}`]));
    assertEquals(names(place.directory), [commit]);
    const mounted = await Promise.all(
      Array.from({ length: 4 }, () => mountedDirectory(commits[0], "a/b", `${root}/mounts`)),
    );
    assertEquals(Deno.readTextFileSync(`${mounted[0]}/a/b/d/a`), "a\n");
    assertEquals(names(`${root}/mounts`).length, 1);
  }));

Deno.test("a directory that another process made first is used, and a failure without it is an error", () =>
  withRemote(async (remote, root) => {
    const commit = await fetched(remote);
    const place = { repository: `${root}/served`, directory: `${root}/commits` };
    const { rename } = Deno;
    const files = async (first: boolean) => {
      Deno.rename = (_made, path) => {
        if (first) Deno.mkdirSync(path);
        return Promise.reject(new Error("Directory not empty"));
      };
      try {
        return await commitFiles(commit, place);
      } finally {
        Deno.rename = rename;
      }
    };
    await assertRejects(() => files(false), Error, "Directory not empty");
    assertEquals(names(place.directory), []);
    assertEquals(await files(true), `${root}/commits/${commit}`);
    assertEquals(names(place.directory), [commit]);
  }));

Deno.test("a directory of objects that cannot be read is an error of the store", () =>
  withRemote(async (remote) => {
    const commit = await fetched(remote);
    const path = await remote.blob(fileAt(await remote.tree(commit), "d/a")?.oid ?? "");
    const blobs = path.split("/").slice(0, -2).join("/");
    Deno.symlinkSync("loop", `${blobs}/loop`);
    await assertRejects(() => remote.reap(), StoreError, `Cannot read ${blobs}/loop: `);
  }));

Deno.test("the program that gives ssh the passphrase is written once", () =>
  withRemote(async (_remote, root) => {
    const access = { privkey: "/k", passphrase: "secret", sslVerify: true, proxy: "" };
    const file = `${root}/served/askpass`;
    const inodes: (number | null)[] = [];
    for (let i = 0; i < 2; i++) {
      const { ok } = await runGitProgram(["rev-parse", "main"], { directory: `${root}/served`, access });
      assertEquals(ok, true);
      inodes.push(Deno.statSync(file).ino);
    }
    assertEquals(inodes[0], inodes[1]);
    const { stdout } = await new Deno.Command(file, { env: { SALT_SSH_PASSPHRASE: "secret" } }).output();
    assertEquals(new TextDecoder().decode(stdout), "secret\n");
  }));
