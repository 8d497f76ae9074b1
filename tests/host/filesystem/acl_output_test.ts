/**
 * What getfacl prints, read.
 * @module
 */

import { parseAcls } from "#lib/host/filesystem/acl_output.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a line that is no entry of a list is ignored", () => {
  const rights = { permissions: { read: true, write: false, execute: true }, octal: 5 };
  assertEquals(
    parseAcls("# file: f\n# owner: root\n# nothing\nmask:\nuser:jim:r-x\ndefault:mask\ndefault:mask::r-x\n"),
    map({
      f: {
        comment: { file: "f", owner: "root" },
        user: [{ jim: rights }],
        group: [],
        defaults: { mask: [{ "": rights }] },
      },
    }),
  );
});
