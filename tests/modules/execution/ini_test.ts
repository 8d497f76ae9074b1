import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "ini");

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("ini, ssh and archive name the file that they cannot read", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({});
    const path = `${root}/bytes`;
    Deno.writeFileSync(path, Uint8Array.of(0x5b, 0xff, 0xfe, 0x5d));
    assertEquals(
      await resultOrError(context, "ini.get_section", [path, "a"]),
      `Unable to open file '${path}'. Exception: it is not valid utf-8`,
    );
    assertEquals(
      await resultOrError(context, "ini.set_option", [`${root}/none/a.ini`, map({ a: { b: "c" } })]),
      `Unable to write file '${root}/none/a.ini'. Exception: [Errno 2] No such file or directory: '${root}/none/a.ini'`,
    );
    assertEquals(
      await resultOrError(context, "ini.get_section", [root, "a"]),
      `Unable to open file '${root}'. Exception: [Errno 21] Is a directory: '${root}'`,
    );
    assertEquals(
      await resultOrError(context, "ssh.auth_keys", ["root"], { config: path }),
      `Problem reading ssh key file ${path}`,
    );
    const result = await resultOrError(context, "archive.list", [path], { archive_format: "tar" });
    assert(typeof result === "string" && result.includes(`Unable to list contents of ${path}. `), String(result));
  });
});
