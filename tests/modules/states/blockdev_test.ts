/**
 * `blockdev.formatted` with an mkfs program in PATH, which recorded cases cannot have.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "blockdev");

Deno.test("a device is formatted by disk.format, and counts as formatted when blkid reports the type", async () => {
  const root = await Deno.makeTempDir({ prefix: "blockdev_" });
  const path = Deno.env.get("PATH") ?? "";
  try {
    await Deno.writeTextFile(`${root}/mkfs.ext4`, "#!/bin/sh\n", { mode: 0o755 });
    await Deno.writeTextFile(`${root}/dev`, "");
    Deno.env.set("PATH", root);
    const name = `${root}/dev`;
    for (
      const [becomes, result, comment] of [
        ["ext4", true, `${name} has been formatted with ext4`],
        ["xfs", false, `Failed to format ${name}`],
      ] as const
    ) {
      const called: string[] = [];
      const call = (fun: string) => {
        called.push(fun);
        return Promise.resolve(called.includes("disk.format") ? becomes : "");
      };
      const args = { name, fs_type: "ext4" };
      const tried = await callState("blockdev.formatted", args, { test: true, state: { call } });
      assertEquals([tried.get("result"), tried.get("comment")], [null, `Changes to ${name} will be applied `]);
      const done = await callState("blockdev.formatted", args, { state: { call } });
      assertEquals([done.get("result"), done.get("comment")], [result, comment]);
      assertEquals(done.get("changes"), result ? map({ new: "ext4", old: "ext4" }) : new Map());
      assertEquals(called, ["cmd.run", "cmd.run", "disk.format", "cmd.run"]);
    }
  } finally {
    Deno.env.set("PATH", path);
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("the end of the job ends the wait for blkid to see the file system", () =>
  withTemporaryDirectory(async (root) => {
    await Deno.writeTextFile(`${root}/mkfs.ext4`, "#!/bin/sh\n", { mode: 0o755 });
    await Deno.writeTextFile(`${root}/dev`, "");
    using _ = new SearchPath(root);
    const called: string[] = [];
    const call = (fun: string) => {
      called.push(fun);
      return Promise.resolve("");
    };
    const signal = AbortSignal.abort(new Error("the job was ended"));
    await assertRejects(
      () => callState("blockdev.formatted", { name: `${root}/dev` }, { state: { call, signal } }),
      Error,
      "the job was ended",
    );
    assertEquals(called, ["cmd.run", "disk.format", "cmd.run"]);
  }));
