/**
 * Copies of files: the modes of the cache and of what is made beside it, files that somebody planted, other file
 * systems, and what is not pushed.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { copyOwnFile } from "#lib/files/client/own_file.ts";
import { PartialFile } from "#lib/files/client/partial_file.ts";
import { makeCacheDirectory, placeOnHost } from "#lib/files/client/placing.ts";
import { pushDirectory, pushFile } from "#lib/files/client/pushing.ts";
import { CommandError } from "#lib/errors.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o7777;

/** Runs `act` while files are made without a umask. */
async function withoutUmask(act: () => unknown): Promise<void> {
  const umask = Deno.umask(0);
  try {
    await act();
  } finally {
    Deno.umask(umask);
  }
}

const TEXT = "contents";
const HASH = { hashType: "sha256", hsum: hashHex(TEXT, "sha256") };
const WANTED = { path: "f", saltenv: "base", hash: HASH };

Deno.test("copies, and directories in place of a file, are only their user's, whatever the umask", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/own`, TEXT, { mode: 0o644 });
    Deno.writeTextFileSync(`${root}/a`, "an old copy");
    await withoutUmask(async () => {
      makeCacheDirectory(`${root}/a/b`);
      assertEquals([`${root}/a`, `${root}/a/b`].map(modeOf), [0o700, 0o700]);
      const seen = await copyOwnFile(
        `${root}/own`,
        { cachedir: `${root}/cache`, hash: HASH },
        (path) => Promise.resolve([modeOf(path), modeOf(`${root}/cache/transfers`)]),
      );
      assertEquals(seen, [0o600, 0o700]);
    });
  }));

Deno.test("a file that is being copied is not written into what somebody planted under its name", () =>
  withTemporaryDirectory(async (root) => {
    const planted = `${root}/planted`, transfers = `${root}/cache/transfers`, uuid = crypto.randomUUID();
    Deno.writeTextFileSync(planted, "old");
    Deno.writeTextFileSync(`${root}/own`, TEXT);
    Deno.mkdirSync(transfers, { recursive: true });
    const name = hashHex(["base", "f", HASH.hashType, HASH.hsum].join("\0"), "sha256");
    for (const link of [`${uuid}.part`, `${name}.${uuid}.part`]) Deno.symlinkSync(planted, `${transfers}/${link}`);
    await withReplaced(crypto, { name: "randomUUID", by: () => uuid }, async () => {
      const place = () => Promise.reject(new Error("it was copied"));
      const copied = () => copyOwnFile(`${root}/own`, { cachedir: `${root}/cache`, hash: HASH }, place);
      await assertRejects(copied, Deno.errors.AlreadyExists);
      using _first = await PartialFile.open(`${root}/cache`, WANTED);
      await assertRejects(() => PartialFile.open(`${root}/cache`, WANTED), Deno.errors.AlreadyExists);
    });
    assertEquals(Deno.readTextFileSync(planted), "old");
  }));

Deno.test("a piece that others move away each time is opened five times, then one of its own is begun", () =>
  withTemporaryDirectory(async (root) => {
    const real = Deno.lstatSync;
    let looked = 0;
    const moved = (path: string | URL) => {
      looked++;
      return { ...real(path), ino: -1 };
    };
    await withReplaced(Deno, { name: "lstatSync", by: moved }, async () => {
      using own = await PartialFile.open(`${root}/cache`, WANTED);
      assertEquals([looked, own.size, /\.[0-9a-f-]{36}\.part$/.test(own.path)], [5, 0, true]);
    });
  }));

Deno.test("what is no file is not removed for a directory of the cache, nor is the root directory looked at", () =>
  withTemporaryDirectory(async (root) => {
    await new Deno.Command("mkfifo", { args: [`${root}/pipe`] }).output();
    const removed: string[] = [];
    const refuse = (path: string | URL) => {
      removed.push(String(path));
      throw new Error("nothing is to be removed");
    };
    await withReplaced(Deno, { name: "removeSync", by: refuse }, () => {
      assertThrows(() => makeCacheDirectory(`${root}/pipe`), Deno.errors.AlreadyExists);
      const full = () => {
        throw new Error("no space is left");
      };
      return withReplaced(Deno, { name: "mkdirSync", by: full }, () => {
        assertThrows(() => makeCacheDirectory(`${root}/a`), Error, "no space is left");
      });
    });
    assertEquals([removed, Deno.lstatSync(`${root}/pipe`).isFifo], [[], true]);
  }));

Deno.test("only a move to another file system becomes a copy", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/from`, "new");
    Deno.writeTextFileSync(`${root}/to`, "old");
    const real = Deno.renameSync;
    let times = 0;
    const once = (from: string | URL, to: string | URL) => {
      if (times++ === 0) throw Object.assign(new Error("not permitted"), { code: "EPERM" });
      real(from, to);
    };
    await withReplaced(Deno, { name: "renameSync", by: once }, () => {
      assertThrows(() => placeOnHost(`${root}/from`, `${root}/to`), Error, "not permitted");
    });
    assertEquals(["from", "to"].map((name) => Deno.readTextFileSync(`${root}/${name}`)), ["new", "old"]);
  }));

Deno.test({
  name:
    "a file that takes the place of another user's on another file system keeps that owner and its special mode (as root)",
  ignore: Deno.uid() !== 0,
  fn: () =>
    withTemporaryDirectory((root) => {
      // Memory is another file system than that of temporary files, or this test shows nothing.
      const other = Deno.makeTempDirSync({ dir: "/dev/shm" });
      try {
        assertEquals(Deno.statSync(other).dev === Deno.statSync(root).dev, false);
        const [from, to] = [`${root}/from`, `${other}/to`];
        Deno.writeTextFileSync(from, "new");
        Deno.writeTextFileSync(to, "old");
        Deno.chownSync(to, 1234, 4321);
        Deno.chmodSync(to, 0o4751);
        placeOnHost(from, to);
        const { uid, gid } = Deno.statSync(to);
        assertEquals([uid, gid, modeOf(to), Deno.readTextFileSync(to)], [1234, 4321, 0o4751, "new"]);
      } finally {
        Deno.removeSync(other, { recursive: true });
      }
    }),
});

Deno.test("what is relative, leads upwards or is no file is not pushed, and nothing of it is sent", () =>
  withTemporaryDirectory(async (root) => {
    let sent = 0;
    const host = {
      id: "web1",
      pieceBytes: 4,
      request: () => Promise.resolve(++sent > 0),
      log: () => {},
    };
    Deno.mkdirSync(`${root}/d`);
    Deno.writeTextFileSync(`${root}/d/a`, TEXT);
    const here = new URL(".", import.meta.url).pathname.slice(Deno.cwd().length + 1).replace(/\/$/, "");
    assertEquals(Deno.statSync(here).isDirectory, true, "the directory of this test, from the current one");
    for (const path of [`${here}/copies_test.ts`, `${root}/d/../d/a`, `${root}/d`, `${root}/none`]) {
      await assertRejects(() => pushFile(path, {}, host), CommandError, path);
    }
    for (const uploadPath of ["../x", "/up/../../x"]) {
      await assertRejects(() => pushFile(`${root}/d/a`, { uploadPath }, host), CommandError, uploadPath);
      await assertRejects(() => pushDirectory(`${root}/d`, { uploadPath }, host), CommandError, uploadPath);
    }
    for (const path of [here, `${root}/d/../d`, `${root}/x/../d`]) {
      await assertRejects(() => pushDirectory(path, {}, host), CommandError, path);
    }
    assertEquals(sent, 0);
    assertEquals([await pushFile(`${root}/d/a`, {}, host), sent], [true, 2]);
  }));
