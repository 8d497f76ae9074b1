import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import {
  beginsAsText,
  copyKeeping,
  detectEncoding,
  isBinaryFile,
  isText,
  replaceFile,
  sameFileBytes,
  textWindows,
} from "#lib/host/filesystem/contents.ts";
import { installFile, listBackups, makeBackup } from "#lib/host/filesystem/backups.ts";

async function scratch(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "contents_" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

Deno.test("a file that is replaced keeps its mode and owner, and no temporary file is left", async () => {
  await using root = await scratch();
  const file = `${root.path}/f`;
  await Deno.writeTextFile(file, "old");
  await Deno.chmod(file, 0o4750);
  if (Deno.uid() === 0) await Deno.chown(file, 12, 34);
  if (Deno.uid() === 0) await Deno.chmod(file, 0o4750);
  replaceFile(file, new TextEncoder().encode("new"));
  const { mode, uid, gid } = await Deno.stat(file);
  assertEquals([(mode ?? 0) & 0o7777, await Deno.readTextFile(file)], [0o4750, "new"]);
  if (Deno.uid() === 0) assertEquals([uid, gid], [12, 34]);
  assertEquals([...Deno.readDirSync(root.path)].length, 1);
});

Deno.test("if a file cannot be replaced, the old one is kept and no temporary file is left", async () => {
  await using root = await scratch();
  await Deno.mkdir(`${root.path}/d/x`, { recursive: true });
  assertThrows(() => replaceFile(`${root.path}/d`, new Uint8Array(1)));
  assertEquals([...Deno.readDirSync(root.path)].map(({ name }) => name), ["d"]);
});

Deno.test("a link at a backup's path is replaced, and its target is not changed", async () => {
  await using root = await scratch();
  await Deno.writeTextFile(`${root.path}/victim`, "precious");
  await Deno.writeTextFile(`${root.path}/f`, "text");
  await Deno.symlink(`${root.path}/victim`, `${root.path}/f.bak`);
  copyKeeping(`${root.path}/f`, `${root.path}/f.bak`);
  assertEquals(await Deno.readTextFile(`${root.path}/victim`), "precious");
  assertEquals(Deno.lstatSync(`${root.path}/f.bak`).isSymlink, false);
});

Deno.test("a search finds text across the chunks of a file", async () => {
  await using root = await scratch();
  const file = `${root.path}/big`;
  const long = "ä".repeat(300 * 1024);
  await Deno.writeTextFile(file, `${long}needle${long}`);
  assert(textWindows(file).some((window) => window.includes("needle")));
  assert(!textWindows(file).some((window) => window.includes("\ufffd")));
});

Deno.test("a search has a quarter of a million characters at a time, and finds what lies across each step", async () => {
  await using root = await scratch();
  const file = `${root.path}/large`;
  const step = 32 * 1024, names = Array.from({ length: 20 }, (_, i) => `<needle ${String(i).padStart(2, "0")}>`);
  const before = "x".repeat(step - 5);
  const between = "x".repeat(step - names[0].length);
  await Deno.writeTextFile(file, before + names.join(between) + between);
  const windows = [...textWindows(file)];
  assertEquals([...new Set(windows.slice(0, -1).map(({ length }) => length))], [256 * 1024]);
  assert(windows.length > 10 && windows[windows.length - 1].length <= 256 * 1024);
  assertEquals(names.filter((name) => !windows.some((window) => window.includes(name))), []);
});

Deno.test("a file is binary if its first 2 KB are; a directory is not", async () => {
  await using root = await scratch();
  const binary = (text: string) => {
    Deno.writeTextFileSync(`${root.path}/f`, text);
    return isBinaryFile(`${root.path}/f`);
  };
  assertEquals(binary(`${"a".repeat(2047)}\0`), true);
  assertEquals(binary(`${"a".repeat(2048)}\0`), false);
  assertEquals(isBinaryFile(root.path), false);
});

Deno.test("backups are listed newest first, and hold the old content", async () => {
  await using root = await scratch();
  const file = `${root.path}/f`, cachedir = `${root.path}/cache`;
  await Deno.writeTextFile(file, "one");
  makeBackup(file, { cachedir, now: new Date(2026, 0, 2, 3, 4, 5, 678) });
  await Deno.writeTextFile(`${root.path}/new`, "two");
  installFile(`${root.path}/new`, file, { cachedir, backup: "minion" });
  const listed = listBackups(file, { cachedir });
  assertEquals(listed.length, 2);
  assertEquals(listed[1].time.slice(0, 24), "Fri Jan 02 2026 03:04:05");
  assertEquals(await Deno.readTextFile(listed[0].location), "one");
  assertEquals(await Deno.readTextFile(file), "two");
  assertEquals(listBackups(file, { cachedir, limit: 1 }), [listed[0]]);
});

Deno.test("a copy that cannot be moved to its place leaves no file behind", async () => {
  await using root = await scratch();
  await Deno.writeTextFile(`${root.path}/f`, "text");
  await Deno.mkdir(`${root.path}/taken/inner`, { recursive: true });
  assertThrows(() => copyKeeping(`${root.path}/f`, `${root.path}/taken`));
  assertEquals([...Deno.readDirSync(root.path)].map(({ name }) => name).sort(), ["f", "taken"]);
});

Deno.test("files are equal if they have the same length and all blocks are equal", async () => {
  await using root = await scratch();
  const block = 1 << 18;
  const bytes = new Uint8Array(2 * block + 1);
  const written = (name: string, change: (copy: Uint8Array) => Uint8Array) => {
    Deno.writeFileSync(`${root.path}/${name}`, change(bytes.slice()));
    return `${root.path}/${name}`;
  };
  const first = written("first", (copy) => copy);
  assert(sameFileBytes(first, written("same", (copy) => copy)));
  assert(!sameFileBytes(first, written("shorter", (copy) => copy.slice(1))));
  for (const at of [0, block - 1, block, 2 * block]) {
    assert(!sameFileBytes(first, written("other", (copy) => copy.fill(1, at, at + 1))), `byte ${at}`);
  }
  assert(sameFileBytes(written("empty", () => new Uint8Array()), written("none", () => new Uint8Array())));
});

Deno.test({
  name: "a copy has the owner of its file if that is asked for, and belongs to who makes it otherwise",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using root = await scratch();
    await Deno.writeTextFile(`${root.path}/f`, "text");
    await Deno.chown(`${root.path}/f`, 12, 34);
    for (const [name, options, owner] of [["own", { owner: true }, [12, 34]], ["mine", {}, [0, 0]]] as const) {
      copyKeeping(`${root.path}/f`, `${root.path}/${name}`, options);
      const { uid, gid } = await Deno.stat(`${root.path}/${name}`);
      assertEquals([uid, gid], [...owner], name);
    }
  },
});

Deno.test({
  name: "a backup has the owner, the group and the mode of its file",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using root = await scratch();
    const file = `${root.path}/f`, cachedir = `${root.path}/cache`;
    await Deno.writeTextFile(file, "secret");
    await Deno.chown(file, 12, 34);
    await Deno.chmod(file, 0o4750);
    makeBackup(file, { cachedir });
    const { uid, gid, mode } = await Deno.stat(listBackups(file, { cachedir })[0].location);
    assertEquals([uid, gid, (mode ?? 0) & 0o7777], [12, 34, 0o4750]);
  },
});

Deno.test("the first 512 bytes of a file tell whether it is text", async () => {
  await using root = await scratch();
  const text = (length: number) => {
    const bytes = new TextEncoder().encode(`${"a".repeat(length)}\0`);
    Deno.writeFileSync(`${root.path}/f`, bytes);
    return [isText(`${root.path}/f`), beginsAsText(bytes)];
  };
  assertEquals([text(511), text(512)], [[false, false], [true, true]]);
});

Deno.test("a directory has no encoding, and an empty file has no text to search", async () => {
  await using root = await scratch();
  await Deno.writeTextFile(`${root.path}/empty`, "");
  assertEquals([detectEncoding(root.path), detectEncoding(`${root.path}/empty`)], [undefined, "UTF-8"]);
  assertEquals([...textWindows(`${root.path}/empty`)], []);
});

Deno.test({
  name: "a file that was not there belongs to the owner that is asked for",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using root = await scratch();
    replaceFile(`${root.path}/f`, new Uint8Array(1), { owner: { uid: 12, gid: 34 }, mode: 0o640 });
    const { uid, gid, mode } = await Deno.stat(`${root.path}/f`);
    assertEquals([uid, gid, (mode ?? 0) & 0o7777], [12, 34, 0o640]);
  },
});

Deno.test({
  name: "files that say no size, as those of /proc, are not equal if one is the beginning of the other",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const started = (...more: string[]) =>
      new Deno.Command("sh", { args: ["-c", "read line", ...more], stdin: "piped" }).spawn();
    const children = [started(), started(""), started("")];
    const [short, long, same] = children.map(({ pid }) => `/proc/${pid}/cmdline`);
    try {
      assertEquals(await Deno.readTextFile(long), `${await Deno.readTextFile(short)}\0`);
      assertEquals([sameFileBytes(short, long), sameFileBytes(long, short), sameFileBytes(long, same)], [
        false,
        false,
        true,
      ]);
    } finally {
      for (const child of children) {
        await child.stdin.close();
        await child.status;
      }
    }
  },
});
