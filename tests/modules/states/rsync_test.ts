import { mapOrEmpty } from "#lib/values/shape.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("states", "rsync");

const IGNORED = serverProgram("rsync") === undefined;

Deno.test({
  name: `rsync.synchronized copies with the real program${IGNORED ? " (skipped: this host has no rsync)" : ""}`,
  ignore: IGNORED,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      Deno.mkdirSync(`${root}/src/sub`, { recursive: true });
      Deno.writeTextFileSync(`${root}/src/sub/a b.txt`, "text");
      const args = { name: `${root}/dst/`, source: `${root}/src/`, prepare: true, delete: true };
      const state = async (test = false) => {
        const { result, changes } = Object.fromEntries(await callState("rsync.synchronized", args, { test }));
        return [result, changes];
      };
      assertEquals((await state(true))[0], null);
      const [result, changes] = await state();
      assertEquals([result, String(mapOrEmpty(changes).get("copied")).includes("sub/a b.txt")], [true, true]);
      assertEquals(Deno.readTextFileSync(`${root}/dst/sub/a b.txt`), "text");
      assertEquals([await state(), await state(true)], [[true, new Map()], [true, new Map()]]);
      Deno.removeSync(`${root}/src/sub/a b.txt`);
      Deno.writeTextFileSync(`${root}/src/new`, "");
      const planned = await state(true);
      assertEquals(planned[0], null);
      assertEquals(await state(), [true, planned[1]]);
      assertEquals([...Deno.readDirSync(`${root}/dst/sub`)], []);
    }),
});
