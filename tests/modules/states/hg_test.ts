import { isDirectory } from "#lib/os/file_kind.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState, scriptedState } from "#tests/support/calls/state_call.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("states", "hg");

Deno.test("hg.latest with force removes what is there before it clones", () =>
  withTemporaryDirectory(async (root) => {
    const target = `${root}/clone`;
    Deno.mkdirSync(target);
    Deno.writeTextFileSync(`${target}/other`, "");
    const { result, comment, changes } = await scriptedState("hg.latest", { name: "src", target, force: true }, {
      "hg.clone": () => {
        assertEquals(isDirectory(target), false);
        Deno.mkdirSync(target);
        return "cloned";
      },
      "hg.revision": "abc",
    });
    assertEquals([result, comment], [true, `Repository src cloned to ${target}`]);
    assertEquals(changes, map({ new: "src", revision: "abc" }));
  }));

const IGNORED = serverProgram("hg") === undefined;

Deno.test({
  name: `hg.latest clones and updates a real repository${IGNORED ? " (skipped: this host has no hg)" : ""}`,
  ignore: IGNORED,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      const source = `${root}/source`, target = `${root}/clone`;
      const hg = async (...words: string[]) => {
        const { code, err } = await run(["hg", "--cwd", source, "--config", "ui.username=test", ...words]);
        assertEquals([code, err], [0, ""]);
      };
      const commit = async (text: string) => {
        Deno.writeTextFileSync(`${source}/a`, text);
        await hg("commit", "--addremove", "-q", "-m", text);
      };
      Deno.mkdirSync(source);
      await hg("init");
      await commit("one");
      await hg("tag", "v1");
      const latest = async (more: object = {}, test = false) => {
        const outcome = await callState("hg.latest", { name: source, target, ...more }, { test });
        return [outcome.get("result"), outcome.get("changes")];
      };
      assertEquals((await latest({}, true))[0], null);
      Deno.mkdirSync(target);
      Deno.writeTextFileSync(`${target}/other`, "");
      assertEquals((await latest())[0], false);
      assertEquals((await latest({ force: true }, true))[0], null);
      assertEquals(Deno.readTextFileSync(`${target}/other`), "");
      assertEquals((await latest({ force: true }))[0], true);
      assertEquals(await latest(), [true, new Map()]);
      await commit("two");
      assertEquals((await latest())[0], true);
      assertEquals(Deno.readTextFileSync(`${target}/a`), "two");
      assertEquals((await latest({ rev: "v1" }))[0], true);
      assertEquals(Deno.readTextFileSync(`${target}/a`), "one");
      const context = testContext();
      const call = (fun: string, ...args: string[]) => resultOrError(context, `hg.${fun}`, args);
      assertMatch(String(await call("revision", target)), /^[0-9a-f]{40}$/);
      assertMatch(String(await call("describe", source)), /^v1-\d-[0-9a-f]{12}$/);
      Deno.writeTextFileSync(`${source}/new file`, "");
      assertEquals(await call("status", source), map({ "not tracked": ["new file"] }));
    }),
});
