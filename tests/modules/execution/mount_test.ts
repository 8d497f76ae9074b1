import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { asMap, call, mapOf } from "#tests/support/calls/host_calls.ts";
import { answeringContext, resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "mount");

Deno.test("the cache of the module mount is stored in its file, and entries can be removed", async () => {
  await withTemporaryDirectory(async (root) => {
    const { call } = testContext({ opts: testOpts({ root_dir: root, cachedir: root }) });
    assertEquals(await call("mount.write_mount_cache", ["/mnt/x", "/dev/x", false, "ext4", ["ro"]]), true);
    assertEquals(
      await call("mount.read_mount_cache", ["/mnt/x"]),
      map({ device: "/dev/x", fstype: "ext4", mkmnt: false, opts: ["ro"] }),
    );
    assertEquals(await call("mount.delete_mount_cache", ["/mnt/x"]), true);
    assertEquals(await call("mount.read_mount_cache", ["/mnt/x"]), map({}));
  });
});

const onLinux = { ignore: Deno.build.os !== "linux" };

Deno.test("mount and disk show the mounted file systems", onLinux, async () => {
  const active = await mapOf("mount.active");
  assertEquals(asMap(active.get("/proc")).get("fstype"), "proc");
  assert([...asMap((await mapOf("mount.active", [], { extended: true })).get("/proc")).keys()].includes("mountid"));
  assertEquals(await call("mount.get_device_from_path", ["/proc/self"]), asMap(active.get("/proc")).get("device"));
  assertEquals(typeof await call("disk.get_fstype_from_path", ["/"]), "string");
});

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("mount reports that its cache cannot be written, and mounts images by their own modules", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/mounts`);
    const context = minion({
      "qemu_nbd.init": map({ "/mnt/image": "/dev/nbd0p1" }),
      "guestfs.umount": true,
    }, { cachedir: root });
    assertEquals(await resultOrError(context, "mount.delete_mount_cache", ["/x"]), true);
    const noted = await resultOrError(context, "mount.write_mount_cache", ["/x", "/dev/x", false, "ext4", []]);
    assertEquals(noted, "Unable to write mount cache.");
    assert(context.logged.at(-1)?.startsWith("error: Failed to cache mounts: "));
    assertEquals(
      await resultOrError(context, "mount.mount", ["/a.img", "/mnt/image"], { util: "qemu_nbd" }),
      "/mnt/image",
    );
    assertEquals(
      await resultOrError(context, "mount.umount", ["/mnt/image"], { util: "guestfs", device: "/a.img" }),
      null,
    );
    const failing = minion({ "qemu_nbd.init": "" });
    assertEquals(await resultOrError(failing, "mount.mount", ["/a.img", "/mnt/image"], { util: "qemu_nbd" }), false);
  });
});
