import { withReplaced } from "#tests/support/replaced.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, type TestContext, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "rsync");

Deno.test("files and directories of the master are copied through a directory that is gone afterwards", () =>
  withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    programs.answer("rsync", [{ args: "*", stdout: "sent\n" }]);
    const asked: Value[][] = [];
    const context: TestContext = testContext({
      call(name, args = [], kwargs) {
        if (name === "cp.list_master_dirs") return Promise.resolve(["dir", "gone"]);
        if (name !== "cp.get_dir" && name !== "cp.get_file") return callFunction(name, { args, kwargs, context });
        asked.push([name, args[0], args[2]]);
        const [source, path] = args.map(String);
        if (source.endsWith("gone") || source.endsWith("none")) return Promise.resolve(name === "cp.get_dir" ? [] : "");
        Deno.writeTextFileSync(name === "cp.get_dir" ? `${path}/f` : path, "x");
        return Promise.resolve(name === "cp.get_dir" ? [`${path}/f`] : path);
      },
    });
    const copy = (source: string, target = `${root}/to`) =>
      resultOrError(context, "rsync.rsync", [source, target], { saltenv: "dev" });
    const sources = [
      ["salt://dir", "cp.get_dir", "/"],
      ["salt://dir/app.conf", "cp.get_file", "/app.conf"],
      ["salt://a.conf?saltenv=prod", "cp.get_file", "/a.conf"],
    ];
    for (const [source, fun, end] of sources) {
      const result = await copy(source);
      assertEquals(result instanceof Map && result.get("stdout"), "sent", String(result));
      const [call] = programs.calls(), from = /^rsync -avz (\S+\/salt_rsync_[^/]+)(\S*) /.exec(call) ?? [];
      assertEquals([from[2], asked.pop()], [end, [fun, source, "dev"]], call);
      assertEquals(await resultOrError(context, "file.directory_exists", [from[1]]), false);
    }
    for (const source of ["salt://gone", "salt://none", "salt://", "salt://a/.."]) {
      assertEquals(await copy(source), `${source} does not exist`);
    }
    assertEquals(await copy("-e sh", "/x"), 'Invalid source: "-e sh"');
    assertEquals(await copy("/x", "--delete"), 'Invalid target: "--delete"');
    assertEquals(await copy("salt://dir", "--delete"), 'Invalid target: "--delete"');
    assertEquals(programs.calls(), []);
  }));

Deno.test("rsync.config says why a configuration cannot be read", () =>
  withTemporaryDirectory(async (root) => {
    const config = () => resultOrError(testContext(), "rsync.config", [`${root}/rsyncd.conf`]);
    assertEquals(await config(), `${root}/rsyncd.conf does not exist`);
    Deno.writeTextFileSync(`${root}/rsyncd.conf`, "uid = nobody\n");
    assertEquals(await config(), "uid = nobody\n");
    const denied = () => {
      throw new Deno.errors.PermissionDenied("Permission denied (os error 13)");
    };
    await withReplaced(Deno, { name: "readTextFileSync", by: denied }, async () => {
      assertEquals(await config(), `Unable to read ${root}/rsyncd.conf, access denied`);
    });
    assertEquals(
      await resultOrError(testContext(), "rsync.config", [root]),
      `Unable to read ${root}, path is a directory`,
    );
  }));
