import { DROPFILE, writeDropfile } from "#lib/keys/dropfile.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

function withCache(test: (cachedir: string) => void): () => void {
  return () => {
    const root = Deno.makeTempDirSync({ prefix: "dropfile_" });
    try {
      test(`${root}/cache`);
    } finally {
      Deno.removeSync(root, { recursive: true });
    }
  };
}

Deno.test(
  "a request for a new key names the master, and a second one leaves the first",
  withCache((cachedir) => {
    writeDropfile(cachedir, "master1");
    writeDropfile(cachedir, "another");
    const { mode, uid } = Deno.statSync(`${cachedir}/${DROPFILE}`);
    assertEquals([Deno.readTextFileSync(`${cachedir}/${DROPFILE}`), (mode ?? 0) & 0o777], ["master1", 0o400]);
    assertEquals(uid, Deno.uid());
  }),
);

Deno.test(
  "a link in its place is replaced, and its target is not touched",
  withCache((cachedir) => {
    Deno.mkdirSync(cachedir);
    Deno.writeTextFileSync(`${cachedir}/other`, "kept");
    Deno.symlinkSync("other", `${cachedir}/${DROPFILE}`);
    writeDropfile(cachedir, "master1");
    assertEquals(Deno.readTextFileSync(`${cachedir}/other`), "kept");
    assertEquals(Deno.readTextFileSync(`${cachedir}/${DROPFILE}`), "master1");
  }),
);

Deno.test(
  "a request that root makes is the master's user's",
  withCache((cachedir) => {
    Deno.mkdirSync(cachedir);
    Deno.chownSync(cachedir, 4711, null);
    writeDropfile(cachedir, "master1");
    assertEquals(Deno.statSync(`${cachedir}/${DROPFILE}`).uid, 4711);
  }),
);

Deno.test(
  "where none can be written is an error",
  withCache((cachedir) => {
    Deno.writeTextFileSync(cachedir, "");
    assertThrows(() => writeDropfile(cachedir, "master1"), Error);
  }),
);
