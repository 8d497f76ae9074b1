/**
 * Files of hashes, as `source_hash` names them.
 * @module
 */

import { extractHash } from "#lib/host/filesystem/checksums.ts";
import { assertEquals } from "#tests/support/assert.ts";
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
  }));
