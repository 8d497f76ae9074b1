import { assertEquals } from "#tests/support/assert.ts";
import { isNewE2fsprogs, parseLsattr, splitContext } from "#lib/host/filesystem/attributes.ts";

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
