/**
 * Files of hashes, as `source_hash` names them.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { extractHash, readSourceHash } from "#lib/host/filesystem/checksums.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const [FIRST, SECOND] = ["1", "2"].map((digit) => digit.repeat(64));

Deno.test("a line that begins with the name has the file's hash, and one that is as long does not", () =>
  withTemporaryDirectory((directory) => {
    const path = `${directory}/sums`;
    const digestOf = (text: string) => {
      Deno.writeTextFileSync(path, text);
      return extractHash(path, { fileName: "/etc/f", hashType: "sha256" })?.hsum;
    };
    assertEquals(digestOf(`/etc/g ${FIRST}\n/etc/f ${SECOND}\n`), SECOND);
    assertEquals(digestOf(`/etc/f${FIRST}\n`), undefined);
    assertEquals(digestOf(`${FIRST} /etc/g\n/etc/f: ${SECOND}\n`), FIRST);
    assertEquals(digestOf(`${FIRST} /etc/g\n${SECOND} /srv/f\n`), SECOND);
    assertEquals(digestOf(`${FIRST} /etc/g\n${SECOND} /srv/xf\n`), FIRST);
  }));

Deno.test("each digest is known by its name and its length, and by its length alone", async () => {
  const lengths = { sha512: 128, sha384: 96, sha256: 64, sha224: 56, sha1: 40, md5: 32 };
  const read = (hash: string) => readSourceHash(hash, {}, () => Promise.reject(new Error("nothing is fetched")));
  for (const [type, length] of Object.entries(lengths)) {
    const digest = "ab".repeat(length / 2);
    assertEquals(await read(`${type}=${digest}`), { hash_type: type, hsum: digest });
    assertEquals(await read(digest), { hash_type: type, hsum: digest });
    await assertRejects(() => read(`${type}=${digest}a`), CommandError, "format is invalid");
  }
});

Deno.test("a source_hash that is none is refused with the reason", async () => {
  const md5 = "ab".repeat(16);
  const read = (hash: string | null) => readSourceHash(hash, {}, () => Promise.reject(new Error("nothing is fetched")));
  assertEquals(await read(md5.toUpperCase()), { hsum: md5, hash_type: "md5" });
  assertEquals(await read(`md5 = ${md5}`), { hash_type: "md5", hsum: md5 });
  const refused: [hash: string | null, why: string][] = [
    [null, "Source hash None format is invalid"],
    [`gopher://sums=${md5}`, `Source hash gopher://sums=${md5} format is invalid`],
    ["z".repeat(32), `Source hash ${"z".repeat(32)} format is invalid`],
    [`=${md5}`, "Invalid hash type ''"],
    [`md4=${md5}`, "Invalid hash type 'md4'"],
    ["md5=abc", "Source hash md5=abc format is invalid"],
    [`sha1=${md5}`, "Invalid length (32) for hash type 'sha1'"],
  ];
  for (const [hash, why] of refused) await assertRejects(() => read(hash), CommandError, why);
});
