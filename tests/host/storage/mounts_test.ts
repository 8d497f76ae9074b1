/**
 * What /proc and mount(8) tell of file systems.
 * @module
 */
import { mountPointOf, parseMountInfo, parseMountList, parseSwaps } from "#lib/host/storage/mounts.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("mounts are read from mountinfo, with none, one and more optional fields", () => {
  const text = [
    "22 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw",
    "28 1 254:1 / / rw,relatime shared:1 master:2 - ext4 /dev/vda1 rw,errors=remount-ro",
    "36 28 0:32 /sub\\040dir /mnt/a\\040b rw - cifs //host/my\\040share rw,user=x\\040y",
    "",
  ].join("\n");
  const mounts = parseMountInfo(text);
  assertEquals([...mounts.keys()], ["/sys", "/", "/mnt/a\\040b"]);
  assertEquals(mounts.get("/"), {
    mountid: "28",
    parentid: "1",
    major: "254",
    minor: "1",
    root: "/",
    opts: ["rw", "relatime"],
    fstype: "ext4",
    device: "/dev/vda1",
    superopts: ["rw", "errors=remount-ro"],
  });
  const { device, superopts, opts } = mounts.get("/mnt/a\\040b")!;
  assertEquals([device, superopts, opts], ["//host/my\\ share", ["rw", "user=x\\ y"], ["rw"]]);
});

Deno.test("devices and swap space are read; invalid lines are left out", () => {
  assertEquals([...parseMountList("/dev/sda1 on / type ext4 (rw) [root]\nnone\ntmpfs on /run type tmpfs (rw)\n")], [
    ["/", "/dev/sda1"],
    ["/run", "tmpfs"],
  ]);
  const swaps =
    "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/sda2 partition 1046524 0 -2\n/swap file 1 1 5\n";
  assertEquals([...parseSwaps(swaps)], [
    ["/dev/sda2", { type: "partition", size: "1046524", used: "0", priority: "-2" }],
    ["/swap", { type: "file", size: "1", used: "1", priority: "5" }],
  ]);
});

Deno.test("a path's file system is found upwards, also of a path that is not there", () => {
  assertEquals(mountPointOf("/proc/self/status"), "/proc");
  assertEquals(mountPointOf("/proc"), "/proc");
  assertEquals(mountPointOf("/proc/surely/not/there"), "/proc");
  assertEquals(mountPointOf("/"), "/");
});
