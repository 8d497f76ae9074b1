/**
 * Attributes of kernel objects, in a directory with the layout of `/sys`.
 * @module
 */

import { attributesBelow, readSysfs, sysfsPath, writeSysfs } from "#lib/host/kernel/sysfs.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

async function inObject(check: (root: string) => void): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "sysfs_" }));
  try {
    await Deno.mkdir(`${root}/object/queue/deep`, { recursive: true });
    const files: [string, string, number][] = [
      ["size", "512\n", 0o444],
      ["ratio", "0.5\n", 0o644],
      ["mode", "a [b] c\n", 0o644],
      ["empty", "\n", 0o644],
      ["stop", "", 0o200],
      ["queue/depth", "0x10\n", 0o444],
      ["queue/deep/hidden", "1_0", 0o000],
    ];
    for (const [name, text, mode] of files) {
      await Deno.writeTextFile(`${root}/object/${name}`, text);
      await Deno.chmod(`${root}/object/${name}`, mode);
    }
    await Deno.writeFile(`${root}/object/binary`, new Uint8Array([0xff, 0xfe]));
    await Deno.symlink("..", `${root}/object/queue/parent`);
    await Deno.symlink("object", `${root}/link`);
    check(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("an object's attributes are read as numbers and strings, without empty and binary ones, and without following link loops", () =>
  inObject((root) => {
    assertEquals(sysfsPath("link/size", root), `${root}/object/size`);
    assertEquals(sysfsPath("nothing", root), undefined);
    assertEquals(attributesBelow(`${root}/object`), {
      r: ["size", "queue/depth"],
      w: ["stop"],
      rw: ["binary", "empty", "mode", "ratio"],
    });
    assertEquals(
      readSysfs(`${root}/object`),
      map({ size: 512, queue: { depth: "0x10" }, mode: "a [b] c", ratio: 0.5 }),
    );
    assertEquals(readSysfs(`${root}/object/empty`), false);
  }));

Deno.test("a value is written with a newline; a failed write is reported", () =>
  inObject((root) => {
    assertEquals(writeSysfs(`${root}/object/mode`, "c"), true);
    assertEquals(Deno.readTextFileSync(`${root}/object/mode`), "c\n");
    assertEquals(writeSysfs(`${root}/object`, "c"), false);
  }));
