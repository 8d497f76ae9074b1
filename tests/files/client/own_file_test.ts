/**
 * Files of this host's own file server are copied directly if they match the server's digest.
 * @module
 */

import { copyOwnFile } from "#lib/files/client/own_file.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const hashOf = (text: string) => ({ hashType: "sha256", hsum: hashHex(new TextEncoder().encode(text), "sha256") });

Deno.test("copyOwnFile() copies a file with the right digest; all others are transferred", () =>
  withTemporaryDirectory(async (root) => {
    const place = (from: string) => {
      Deno.renameSync(from, `${root}/placed`);
      return Promise.resolve("placed");
    };
    await Deno.writeTextFile(`${root}/f`, "contents");
    const copy = (path: string, text: string) =>
      copyOwnFile(`${root}/${path}`, { cachedir: `${root}/cache`, hash: hashOf(text) }, place);
    assertEquals(await copy("f", "contents"), "placed");
    assertEquals(await Deno.readTextFile(`${root}/placed`), "contents");
    assertEquals((await Deno.stat(`${root}/placed`)).mode! & 0o777, 0o600);
    assertEquals(await copy("f", "other"), undefined);
    assertEquals(await copy("nothing", ""), undefined);
    const large = "x".repeat((1 << 20) + 1);
    await Deno.writeTextFile(`${root}/large`, large);
    assertEquals(await copy("large", large), undefined);
    const failing = () => Promise.reject(new Error("no place"));
    const hash = hashOf("contents");
    await assertRejects(() => copyOwnFile(`${root}/f`, { cachedir: `${root}/cache`, hash }, failing));
    assertEquals([...Deno.readDirSync(`${root}/cache/transfers`)], []);
  }));
