import { InvocationError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import {
  isNewE2fsprogs,
  listAttributes,
  parseLsattr,
  selinuxParts,
  splitContext,
} from "#lib/host/filesystem/attributes.ts";
import { checkPermissions, readResult, type WantedPermissions } from "#lib/host/filesystem/permission_check.ts";
import { fileHost } from "#modules/execution/_file_host.ts";
import { map } from "#lib/values/value.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("the output of lsattr is parsed to letters for each file; error lines are ignored", () => {
  const output =
    "----ia--------e------- /tmp/a file\nlsattr: Operation not supported While reading flags on /proc/x\n---------------------- b";
  assertEquals(Object.fromEntries(parseLsattr(output, true)), { "/tmp/a file": ["i", "a", "e"], b: [] });
  assertEquals(parseLsattr(output, false).get("/tmp/a file"), ["i", "a"]);
});

Deno.test("letters newer than 1.41.12 depend on the version of tune2fs", () => {
  const isNew = (version: string) => isNewE2fsprogs(`tune2fs ${version} (17-Aug-2026)\nUsage: tune2fs`);
  assertEquals(["1.41.12", "1.41.11", "1.41.14", "1.47.0", "1.4", "2.0"].map(isNew), [
    false,
    false,
    true,
    true,
    false,
    true,
  ]);
  assertEquals(isNewE2fsprogs("no such thing"), false);
});

Deno.test("a SELinux context has four parts; others are refused", () => {
  assertEquals(splitContext("system_u:object_r:etc_t:s0"), {
    user: "system_u",
    role: "object_r",
    type: "etc_t",
    range: "s0",
  });
  assertEquals(splitContext("No selinux context information is available for /x"), undefined);
});

/** Whether files of this host can have the attribute `A`, and this process may set it. */
function haveAttributes(): boolean {
  const path = Deno.makeTempFileSync();
  try {
    return new Deno.Command("chattr", { args: ["+A", path], stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  } finally {
    Deno.removeSync(path);
  }
}

Deno.test({
  name: "the wanted attributes of a file are set; those of a directory are not",
  ignore: Deno.build.os !== "linux" || !haveAttributes(),
  fn: () =>
    withTemporaryDirectory(async (root) => {
      const file = `${root}/file`, directory = `${root}/directory`;
      Deno.writeTextFileSync(file, "");
      Deno.mkdirSync(directory);
      const listed = (path: string) => letters(path).includes("A");
      const changes = async (path: string, test: boolean) => {
        const wanted = { user: null, group: null, mode: null, attrs: "A" };
        const host = fileHost(testContext({ opts: { ...testOpts(), test } }));
        return (await checkPermissions(readResult(path, null), { path, wanted, host })).ret.changes.get("attrs");
      };
      const old = /e/.test(letters(file)) ? "e" : "";
      assertEquals([await changes(file, true), listed(file)], [map({ old, new: "A" }), false]);
      assertEquals([await changes(file, false), listed(file)], [map({ old, new: "A" }), true]);
      assertEquals(await changes(file, false), undefined);
      assertEquals([await changes(directory, false), listed(directory)], [undefined, false]);
      const host = fileHost(testContext());
      const none = { user: null, group: null, mode: null, attrs: "" };
      const { ret } = await checkPermissions(readResult(file, null), { path: file, wanted: none, host });
      assertEquals([ret.changes.get("attrs"), listed(file)], [map({ old: `A${old}`, new: "" }), false]);
    }),
});

/** The letters that `lsattr` shows. */
function letters(path: string): string {
  const { stdout } = new Deno.Command("lsattr", { args: ["-d", path] }).outputSync();
  return new TextDecoder().decode(stdout).split(" ")[0];
}

Deno.test({
  name: "the attributes of a file that is not there are refused",
  ignore: which("lsattr") === undefined,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      const list = () => listAttributes(`${root}/none`, fileHost(testContext()));
      await assertRejects(list, InvocationError, `File or directory does not exist: ${root}/none`);
    }),
});

Deno.test("an owner is wanted by name or by number; a SELinux context that cannot be read is a failure", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/file`;
    Deno.writeTextFileSync(path, "");
    const { uid, gid } = Deno.statSync(path);
    const check = (wanted: Partial<WantedPermissions>) =>
      checkPermissions(readResult(path, null), {
        path,
        wanted: { user: null, group: null, mode: null, ...wanted },
        host: fileHost(testContext({ opts: { ...testOpts(), test: true } })),
      });
    assertEquals([...(await check({ user: uid, group: gid })).ret.changes], []);
    if ((await selinuxParts(path, fileHost(testContext()))) !== undefined) return;
    const { ret } = await check({ setype: "etc_t" });
    assertEquals([ret.result, ret.comment], [false, "Failed to get selinux attributes"]);
  }));
