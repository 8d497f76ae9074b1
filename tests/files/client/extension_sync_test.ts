/**
 * `saltutil.sync_*`: what is in the way of a copy, what stays, and a damaged record of copies.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { openTree, type StateTree } from "#tests/support/calls/state_tree.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { filesBelow } from "#tests/support/tree.ts";

const synced = async (tree: StateTree) => (await tree.call("saltutil.sync_modules", [], { refresh: false })).returned;

/** The places of a minion's own modules. */
function placesOf({ context: { opts } }: StateTree) {
  return { modules: `${opts.extension_modules}/modules`, record: `${opts.cachedir}/extmods_synced.json` };
}

Deno.test("a module that cannot be copied is an error in the log, and leaves no piece", async () => {
  await using tree = await openTree({ files: { "_modules/own.ts": "// one\n" } });
  const { modules } = placesOf(tree);
  Deno.mkdirSync(`${modules}/own.ts/in the way`, { recursive: true });
  assertEquals(await synced(tree), []);
  assertEquals(tree.context.logged.some((line) => line.startsWith("error: Failed to sync modules module: ")), true);
  assertEquals([...filesBelow(modules)], []);
});

Deno.test("a module that is gone is removed with its directory, unless something else is there", async () => {
  const files = { "_modules/one/a.ts": "// a\n", "_modules/two/b.ts": "// b\n" };
  await using tree = await openTree({ files });
  const { modules } = placesOf(tree);
  assertEquals(await synced(tree), ["modules.one.a", "modules.two.b"]);
  Deno.writeTextFileSync(`${modules}/two/mine.ts`, "// the operator's\n");
  Deno.removeSync(`${tree.root}/srv/_modules`, { recursive: true });
  assertEquals(await synced(tree), []);
  assertEquals([
    lexistsOrThrow(`${modules}/one`),
    lexistsOrThrow(`${modules}/two/b.ts`),
    lexistsOrThrow(`${modules}/two/mine.ts`),
  ], [
    false,
    false,
    true,
  ]);
});

Deno.test("a module of several environments is the last one's, and is not copied again while that stays", async () => {
  await using tree = await openTree({ files: { "_modules/own.ts": "// base\n", "_modules/base.ts": "// base\n" } });
  const { modules } = placesOf(tree), { opts } = tree.context;
  Deno.mkdirSync(`${tree.root}/dev/_modules`, { recursive: true });
  Deno.writeTextFileSync(`${tree.root}/dev/_modules/own.ts`, "// dev\n");
  opts.file_roots.set("dev", [`${tree.root}/dev`]);
  const sync = async () =>
    (await tree.call("saltutil.sync_modules", [], { refresh: false, saltenv: "base,dev" })).returned;
  assertEquals(await sync(), ["modules.base", "modules.own"]);
  assertEquals(Deno.readTextFileSync(`${modules}/own.ts`), "// dev\n");
  const { ino } = Deno.statSync(`${modules}/own.ts`);
  assertEquals([await sync(), Deno.statSync(`${modules}/own.ts`).ino], [[], ino]);
});

Deno.test("with a damaged record nothing is removed, and the next copies are noted again", async () => {
  for (const damaged of ["5", "null", "{", '{"modules": ["../../x"]}', '{"modules": 5}']) {
    await using tree = await openTree({
      files: { "_modules/own.ts": "// one\n" },
      opts: { fileserver_list_cache_time: 0 },
    });
    const { modules, record } = placesOf(tree);
    await synced(tree);
    Deno.writeTextFileSync(record, damaged);
    Deno.renameSync(`${tree.root}/srv/_modules/own.ts`, `${tree.root}/srv/_modules/other.ts`);
    assertEquals(await synced(tree), ["modules.other"], damaged);
    assertEquals([...filesBelow(modules)].length, 2, damaged);
    assertEquals(JSON.parse(Deno.readTextFileSync(record)), { modules: ["other.ts"] }, damaged);
  }
});

Deno.test("modules that are copied, and their directories, are only their user's, whatever the umask and the copy's mode", async () => {
  await using tree = await openTree({ files: { "_modules/one/a.ts": "// a\n" } });
  const { modules, record } = placesOf(tree);
  await synced(tree);
  for (const copy of filesBelow(`${tree.context.opts.cachedir}/files`)) Deno.chmodSync(copy, 0o666);
  Deno.removeSync(modules, { recursive: true });
  const noted = Deno.statSync(record).ino;
  const umask = Deno.umask(0);
  try {
    assertEquals(await synced(tree), ["modules.one.a"]);
  } finally {
    Deno.umask(umask);
  }
  const modes = [modules, `${modules}/one`, `${modules}/one/a.ts`].map((path) =>
    (Deno.statSync(path).mode ?? 0) & 0o777
  );
  assertEquals([...modes, Deno.statSync(record).ino], [0o700, 0o700, 0o600, noted], "the record is not written again");
});
