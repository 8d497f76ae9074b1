/** Digests of files that change, or whose size the system does not report; limits and links of lists of files. */

import { CommandError } from "#lib/errors.ts";
import { hashBytes } from "#lib/crypto/hash.ts";
import { HashCache } from "#lib/files/backends/hash_cache.ts";
import { digestFile, SMALL } from "#lib/files/backends/pieces.ts";
import { listTree, readFound } from "#lib/files/backends/root_files.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

/** A directory that is removed at the end. */
class Place implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "digests_" });

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("the digest of a file that changes while it is read is the digest of its last content", async () => {
  using place = new Place();
  const path = `${place.root}/f`;
  const cache = new HashCache(`${place.root}/hash`, "sha256", { log: () => {} });
  Deno.writeFileSync(path, new Uint8Array(SMALL + 1));
  const digest = cache.get({ path, saltenv: "base", rel: "f" });
  const last = new Uint8Array(SMALL + 2).fill(7);
  Deno.writeFileSync(path, last);
  assertEquals(await digest, hashBytes(last, "sha256").toHex());
});

Deno.test("a file that is always written is read a few times, and gets the digest of the last reading", async () => {
  using place = new Place();
  const path = `${place.root}/f`;
  const cache = new HashCache(`${place.root}/hash`, "sha256", { log: () => {} });
  Deno.writeFileSync(path, new Uint8Array(16 << 20)); // large enough that each reading meets a change
  const digest = cache.get({ path, saltenv: "base", rel: "f" });
  const writing = { until: Date.now() + 5_000, ended: false };
  const writer = (async () => {
    while (!writing.ended && Date.now() < writing.until) {
      Deno.writeFileSync(path, new Uint8Array([1]), { append: true });
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  })();
  assertEquals((await digest)?.length, 64);
  assertEquals(Date.now() < writing.until, true, "it did not wait for the writer's end");
  writing.ended = true;
  await writer;
});

Deno.test("digests of an environment whose name has a % of its own are removed like others", async () => {
  using place = new Place();
  const cache = new HashCache(`${place.root}/hash`, "sha256", { log: () => {} });
  Deno.mkdirSync(`${place.root}/hash/100%`, { recursive: true });
  Deno.writeTextFileSync(`${place.root}/hash/100%/f.hash.sha256`, "x:y");
  const asked: string[] = [];
  await cache.reap((rel, saltenv) => Promise.resolve((asked.push(`${saltenv} ${rel}`), false)));
  assertEquals(asked, ["100% f"]);
  assertEquals([...Deno.readDirSync(`${place.root}/hash/100%`)], []);
});

Deno.test("a digest is that of one state of the file, also if it changes just after it was read", async () => {
  using place = new Place();
  const path = `${place.root}/f`;
  const cache = new HashCache(`${place.root}/hash`, "sha256", { log: () => {} });
  Deno.writeTextFileSync(path, "first");
  const { statSync } = Deno;
  let looks = 0;
  Deno.statSync = (of) => {
    // The second look is the one after it was read.
    if (of === path && ++looks === 2) Deno.writeTextFileSync(path, "second state");
    return statSync(of);
  };
  try {
    const last = new TextEncoder().encode("second state");
    assertEquals(await cache.get({ path, saltenv: "base", rel: "f" }), hashBytes(last, "sha256").toHex());
  } finally {
    Deno.statSync = statSync;
  }
});

Deno.test("a file with more bytes than the system reports is read to its end", async () => {
  assertEquals(Deno.statSync("/proc/version").size, 0);
  assertEquals(
    await digestFile("/proc/version", "sha256"),
    hashBytes(Deno.readFileSync("/proc/version"), "sha256").toHex(),
  );
});

Deno.test("a file of the roots that is larger than 64 MiB is not read", () => {
  using place = new Place();
  const path = `${place.root}/large`;
  Deno.writeTextFileSync(path, "");
  Deno.truncateSync(path, 64 * 2 ** 20 + 1);
  assertThrows(() => readFound({ path, kind: "bin" }), CommandError, `${path} is larger than 67108864 bytes`);
});

Deno.test("in a tree of files a broken link is a file", () => {
  using place = new Place();
  Deno.mkdirSync(`${place.root}/d`);
  Deno.symlinkSync("nowhere", `${place.root}/link`);
  Deno.symlinkSync("d", `${place.root}/to_d`);
  assertEquals(listTree(place.root), map({ d: {}, link: "f", to_d: {} }));
});
