/** @module */
import { makeSharedDirectory, openSharedParents } from "#lib/os/shared_parents.ts";
import { openToWrite } from "#lib/os/new_files.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;

Deno.test("directories that programs share are open to all, whoever of two that start at once makes them", () =>
  withTemporaryDirectory(async (root) => {
    openSharedParents({ cachedir: `${root}/var/cache/salt/master`, pki_dir: `${root}/etc/salt/pki/master` });
    assertEquals(["var", "var/cache/salt", "etc/salt/pki"].map((name) => modeOf(`${root}/${name}`)), [
      0o755,
      0o755,
      0o755,
    ]);
    const { mkdirSync } = Deno;
    const other = (path: string | URL) => {
      mkdirSync(path, { mode: 0o700 });
      throw new Deno.errors.AlreadyExists("File exists (os error 17)");
    };
    await withReplaced(Deno, { name: "mkdirSync", by: other }, () => makeSharedDirectory(`${root}/raced`));
    assertEquals(modeOf(`${root}/raced`), 0o700);
  }));

Deno.test("a program that may not make them starts; a disk that is full is told", () =>
  withTemporaryDirectory(async (root) => {
    const pki_dir = `${root}/pki/master`;
    Deno.writeTextFileSync(`${root}/file`, "");
    openSharedParents({ cachedir: `${root}/file/salt/master`, pki_dir });
    assertEquals(modeOf(`${root}/pki`), 0o755);
    const mkdirSync = () => {
      throw new Error("No space left on device (os error 28)");
    };
    await withReplaced(
      Deno,
      { name: "mkdirSync", by: mkdirSync },
      () =>
        void assertThrows(() => openSharedParents({ cachedir: `${root}/new/salt`, pki_dir }), Error, "No space left"),
    );
  }));

Deno.test("a file is made where a link leads that leads to nothing yet, and none of the name of a directory", () =>
  withTemporaryDirectory((root) => {
    Deno.mkdirSync(`${root}/there`);
    for (const [link, target] of [["relative", "there/one"], ["absolute", `${root}/there/two`]]) {
      Deno.symlinkSync(target, `${root}/${link}`);
      using file = openToWrite(`${root}/${link}`, { mode: 0o600 });
      file.writeSync(new TextEncoder().encode(link));
    }
    assertEquals(["one", "two"].map((name) => Deno.readTextFileSync(`${root}/there/${name}`)), [
      "relative",
      "absolute",
    ]);
    assertEquals(modeOf(`${root}/there/one`), 0o600);
    assertThrows(() => openToWrite(`${root}/none/`), Error, "Is a directory");
  }));
