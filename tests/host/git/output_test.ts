import { gitOptionWords } from "#lib/host/git/options.ts";
import { parseConfig, parseGitVersion, parseWorktrees } from "#lib/host/git/output.ts";
import { isAtLeast } from "#lib/host/git/worktrees.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("worktrees: with a branch, with a detached HEAD, and a bare repository", () => {
  const text = [
    "worktree /srv/bare\nbare",
    "worktree /srv/a b\nHEAD 1111\nbranch refs/heads/feature/x",
    "worktree /srv/c\nHEAD 2222\ndetached",
  ].join("\n\n");
  assertEquals(parseWorktrees(`${text}\n\n`), [
    { path: "/srv/a b", head: "1111", branch: "feature/x" },
    { path: "/srv/c", head: "2222" },
  ]);
});

Deno.test("git versions are parsed and compared", () => {
  assertEquals(["git version 2.39.5 (Apple Git-154)\n", "git version 2.7", ""].map(parseGitVersion), [
    "2.39.5",
    "2.7",
    "unknown",
  ]);
  const versions = ["2.7", "2.7.1", "2.10", "3.0", "2.6.9", "1.9", "unknown"];
  assertEquals(versions.map((version) => isAtLeast(version, [2, 7])), [true, true, true, true, false, false, false]);
});

Deno.test("the values of an option are listed together; options are given as a string or a list", () => {
  assertEquals([...parseConfig("user.name a b\nremote.url x\nremote.url y\nodd\n")], [
    ["user.name", ["a b"]],
    ["remote.url", ["x", "y"]],
  ]);
  assertEquals([null, "-a 'b c' --", ["-a", 5], 5].map((options) => gitOptionWords(options)), [
    [],
    ["-a", "b c"],
    ["-a", "5"],
    ["5"],
  ]);
});
