/** SELinux contexts, and attributes of files, on hosts with their programs and without. */

import { listAttributes, setSelinuxContext } from "#lib/host/filesystem/attributes.ts";
import type { FileHost } from "#lib/host/filesystem/file_host.ts";
import { checkPermissions, readResult, type WantedPermissions } from "#lib/host/filesystem/permission_check.ts";
import { CommandError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { fileHost } from "#modules/execution/_file_host.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A host whose programs change a context in memory, and what they were asked. */
function selinuxHost(path: string, { test = false, fails = false } = {}) {
  let context = "system_u:object_r:etc_t:s0";
  const asked: string[] = [], policy: unknown[] = [];
  const host: FileHost = {
    ...fileHost(testContext()),
    test,
    run(words) {
      asked.push(words.join(" "));
      if (words[0] === "chcon" && !fails) {
        const at = words.indexOf("-t");
        if (at > 0) context = context.replace("etc_t", words[at + 1]);
      }
      const retcode = fails && words[0] === "chcon" ? 1 : 0;
      return Promise.resolve({ retcode, stdout: words[0] === "stat" ? context : "", stderr: "" });
    },
    addFileContext: (of, wanted) => Promise.resolve(void policy.push([of, wanted])),
  };
  const check = async (wanted: Partial<WantedPermissions>) => {
    const ret = readResult(path, null);
    await checkPermissions(ret, { path, wanted: { user: null, group: null, mode: null, ...wanted }, host });
    return ret;
  };
  return { asked, policy, check };
}

Deno.test({
  name: "a SELinux context is changed, and put into the policy, only where it differs from what is wanted",
  ignore: which("chcon") === undefined,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      const path = `${root}/file`;
      Deno.writeTextFileSync(path, "");
      const { asked, policy, check } = selinuxHost(path);
      const same = await check({ seuser: "system_u", setype: "etc_t" });
      assertEquals([same.changes.size, policy, asked.filter((line) => line.startsWith("chcon"))], [0, [], []]);
      const changed = await check({ seuser: "system_u", setype: "shadow_t" });
      assertEquals(changed.changes.get("selinux"), map({ Old: "Type: etc_t", New: "Type: shadow_t" }));
      assertEquals(policy, [[path, { type: "shadow_t" }]]);
      assertEquals(asked.filter((line) => line.startsWith("chcon")), [`chcon -t shadow_t ${path}`]);
    }),
});

Deno.test({
  name: "a SELinux context is only told in test mode, and a failure changes nothing",
  ignore: which("chcon") === undefined,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      const path = `${root}/file`;
      Deno.writeTextFileSync(path, "");
      const dry = selinuxHost(path, { test: true });
      const told = await dry.check({ setype: "shadow_t" });
      assertEquals([told.result, told.changes.get("selinux")], [
        null,
        map({ Old: "Type: etc_t", New: "Type: shadow_t" }),
      ]);
      assertEquals([dry.policy, dry.asked.some((line) => line.startsWith("chcon"))], [[], false]);
      const failed = await selinuxHost(path, { fails: true }).check({ setype: "shadow_t" });
      assertEquals([failed.result, failed.changes.size], [false, 0]);
      assertStringIncludes([failed.comment].flat().join(), "Failed to set selinux attributes");
      const none = selinuxHost(path);
      await none.check({});
      assertEquals(none.asked.filter((line) => line.startsWith("stat")), []);
    }),
});

Deno.test("without lsattr a file has no attributes, and without chcon no context is set", async () => {
  const host: FileHost = {
    ...fileHost(testContext()),
    run: () => Promise.reject(new Error("nothing is to be started")),
  };
  const statSync = Deno.statSync;
  const without = (path: string | URL) => {
    if (/\/(lsattr|chcon)$/.test(String(path))) throw new Deno.errors.NotFound("No such file or directory");
    return statSync(path);
  };
  // Without the C library the runtime is asked which programs there are.
  const denied = Object.assign(new EventTarget(), { state: "denied", onchange: null, partial: false } as const);
  await withReplaced(
    Deno.permissions,
    { name: "querySync", by: () => denied },
    () =>
      withReplaced(Deno, { name: "statSync", by: without }, async () => {
        assertEquals(await listAttributes("/none/such", host), null);
        const set = () => setSelinuxContext("/none/such", { type: "etc_t" }, host);
        await assertRejects(set, CommandError, "chcon executable not found");
      }),
  );
});
