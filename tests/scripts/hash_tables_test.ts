import { assert, assertEquals, assertThrows } from "@std/assert";
import { hmac } from "@noble/hashes/hmac.js";
import { md5, sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { HASH_FILES, withHashTables } from "#scripts/build/hash_tables.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const LIBRARY = new URL("./", import.meta.resolve("@noble/hashes/sha2.js"));
const CHANGED = ["sha2.js", "legacy.js", "utils.js"];

const textOf = (file: string) => Deno.readTextFileSync(new URL(file, LIBRARY));

Deno.test("the digests with precomputed tables are those of the library", () =>
  withTemporaryDirectory(async (directory) => {
    for (const { name } of Deno.readDirSync(LIBRARY)) {
      if (!name.endsWith(".js")) continue;
      const text = textOf(name);
      const path = new URL(name, LIBRARY).pathname;
      assertEquals(HASH_FILES.test(path), CHANGED.includes(name), name);
      Deno.writeTextFileSync(`${directory}/${name}`, CHANGED.includes(name) ? withHashTables(path, text) : text);
    }
    Deno.writeTextFileSync(`${directory}/package.json`, '{"type":"module"}');
    const sha2: typeof import("@noble/hashes/sha2.js") = await import(`file://${directory}/sha2.js`);
    const legacy: typeof import("@noble/hashes/legacy.js") = await import(`file://${directory}/legacy.js`);
    const mac: typeof import("@noble/hashes/hmac.js") = await import(`file://${directory}/hmac.js`);
    const pairs = [
      [sha256, sha2.sha256],
      [sha384, sha2.sha384],
      [sha512, sha2.sha512],
      [md5, legacy.md5],
      [sha1, legacy.sha1],
    ] as const;
    for (const [theirs, ours] of pairs) {
      assert(theirs !== ours);
      for (const length of [0, 1, 63, 64, 111, 112, 127, 128, 1000]) {
        const data = Uint8Array.from({ length }, (_, i) => i * 7);
        assertEquals(ours(data), theirs(data));
        assertEquals(mac.hmac(ours, data, data), hmac(theirs, data, data));
      }
      assertEquals([ours.outputLen, ours.blockLen, ours.canXOF], [theirs.outputLen, theirs.blockLen, theirs.canXOF]);
      assertEquals(Object.keys(ours).sort(), Object.keys(theirs).sort());
      assert(Object.isFrozen(ours));
    }
  }));

Deno.test("each change keeps the lines of its file", () => {
  for (const file of CHANGED) {
    const text = textOf(file);
    assertEquals(withHashTables(`/${file}`, text).split("\n").length, text.split("\n").length, file);
  }
});

Deno.test("a library that has changed stops the build", () => {
  for (const file of CHANGED) assertThrows(() => withHashTables(`/${file}`, "export {};"), Error, "hash_tables.ts");
});
