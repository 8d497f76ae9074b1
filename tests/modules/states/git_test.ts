import { CommandError, InvocationError } from "#lib/errors.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { StatePlace } from "#tests/support/calls/state_place.ts";

testRecordedCases("states", "git");

/** A repository with two commits, the first tagged, and clones of it. */
async function repositories(root: string): Promise<void> {
  const script = `
    export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b
    git init -q -b main up; cd up; echo 1 > f; git add f; git commit -q -m one; git tag v1; echo 2 > f; git commit -q -a -m two; cd ..
    for n in behind here; do git clone -q "file://$PWD/up" $n; done; git -C behind reset -q --hard v1`;
  const { success, stderr } = await new Deno.Command("sh", { args: ["-ec", script], cwd: root }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

Deno.test("states of git say what a remote or a clone does not have after all", async () => {
  await using place = new StatePlace();
  const { root } = place;
  await repositories(root);
  const name = `file://${root}/up`;
  /** The same, with one function of git that does something else. */
  const state = (
    fun: string,
    args: Record<string, unknown>,
    other: string,
    answer: (args: readonly Value[]) => Value | undefined,
  ) =>
    place.state(fun, { name, ...args }, {
      call: async (called, list = [], kwargs) => {
        const own = called === other ? answer(list) : undefined;
        return own !== undefined ? own : await callFunction(called, { args: list, kwargs, context: place.job });
      },
    });
  assertEquals(
    await state("git.latest", { target: `${root}/new`, rev: "v1" }, "git.list_tags", () => []),
    [false, "Revision 'v1' does not exist in clone\n\nChanges already made: file://@/up cloned to @/new"],
  );
  const behind = { target: `${root}/behind`, rev: "main", branch: "main" };
  const [, unmoved] = await state("git.latest", behind, "git.merge", () => "");
  assertEquals(unmoved.split("\n")[0], "Failed to update repository");
  assertEquals(
    await state("git.latest", behind, "git.merge", () => {
      throw new InvocationError("not like this");
    }),
    [false, "not like this"],
  );
  assertEquals(
    await state("git.detached", { target: `${root}/here`, rev: "nosuch" }, "git.remote_refs", () => {
      throw new CommandError("broken");
    }),
    [false, "Failed to list refs for origin: broken"],
  );
  // Another branch that is here, and a tag that the remote does not have.
  for (const words of [["branch", "side"], ["tag", "gone"]]) {
    const made = await new Deno.Command("git", { args: ["-C", `${root}/here`, ...words] }).output();
    assertEquals(made.success, true);
  }
  const side = { target: `${root}/here`, rev: "main", branch: "side" };
  const position = await state("git.latest", side, "git.rev_parse", (list) => {
    if (list.includes("side^{commit}")) throw new CommandError("broken");
    return undefined;
  });
  assertEquals(position, [false, "Unable to get position of local branch 'side': broken"]);
  const args = { name, target: `${root}/here`, rev: "main", branch: "main", sync_tags: true };
  const kept = await callState("git.latest", args, {
    job: place.job,
    state: {
      call: async (called, list = [], kwargs) => {
        if (called === "git.tag") throw new CommandError("it is locked");
        return await callFunction(called, { args: list, kwargs, context: place.job });
      },
    },
  });
  assertEquals([kept.get("result"), kept.get("warnings")], [
    true,
    ["Failed to remove local tag 'gone':\n\nit is locked\n\n"],
  ]);
  const key = `${root}/key`;
  await Deno.writeTextFile(key, "-----BEGIN OPENSSH PRIVATE KEY-----\n", { mode: 0o600 });
  const [result] = await place.state("git.latest", { name, target: `${root}/keyed`, rev: "main", identity: key });
  assertEquals(result, true);
});
