/** Temporary files of `file.manage_file`, and what a file that is put in place keeps of the old one. */

import { installFile } from "#lib/host/filesystem/backups.ts";
import { manageFile, type Management, metaChanges } from "#lib/host/filesystem/managing.ts";
import { readResult } from "#lib/host/filesystem/permission_check.ts";
import { fileHost } from "#modules/execution/_file_host.ts";
import { CommandError } from "#lib/errors.ts";
import { currentUmask } from "#lib/os/umask.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { hashBytes } from "#lib/crypto/hash.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const modeOf = (path: string) => ((Deno.statSync(path).mode ?? 0) & 0o7777).toString(8);

const MANAGEMENT: Omit<Management, "name"> = {
  user: null,
  group: null,
  mode: null,
  sfn: "",
  source: "",
  saltenv: "base",
  sum: undefined,
  contents: null,
  ignoring: {},
  newFileDiff: false,
  backup: "",
  makedirs: false,
  dirMode: null,
  showChanges: true,
  follow: false,
  skipVerify: false,
  keepMode: false,
  encoding: null,
  encodingErrors: "strict",
};

Deno.test("contents that replace a link wait in a file, and in a directory, that only their owner may read", () =>
  withTemporaryDirectory(async (root) => {
    const name = `${root}/link`;
    Deno.writeTextFileSync(`${root}/target`, "secret\n", { mode: 0o644 });
    Deno.symlinkSync(`${root}/target`, name);
    const modes: string[] = [];
    const management: Management = {
      ...MANAGEMENT,
      name,
      contents: "secret\n",
      checkSource: (path) => {
        modes.push(modeOf(path), modeOf(path.slice(0, path.lastIndexOf("/"))));
        return Promise.resolve();
      },
    };
    const { result } = await manageFile(readResult(name, null), management, fileHost(testContext()));
    assertEquals(result, true);
    assertEquals(modes, ["600", "700"]);
    assertEquals(Deno.lstatSync(name).isFile, true);
  }));

Deno.test({
  name: "a file that root puts in place of a user's link has neither owner nor mode of what that link leads to",
  ignore: Deno.uid() !== 0 || Deno.build.os !== "linux",
  fn: () =>
    withTemporaryDirectory((root) => {
      const [program, home, text] = [`${root}/program`, `${root}/home`, new TextEncoder().encode("text\n")];
      Deno.writeTextFileSync(program, "program\n");
      Deno.chownSync(program, 1, 1);
      Deno.chmodSync(program, 0o4755);
      Deno.mkdirSync(home);
      Deno.chownSync(home, 65534, 65534);
      const how = { cachedir: `${root}/cache`, backup: "minion" };
      for (const [link, mode] of [["user's", "600"], ["root's", "4755"]]) {
        const path = link === "user's" ? `${home}/app.conf` : `${root}/link`;
        Deno.symlinkSync(program, path);
        installFile(text, path, how);
        const { isFile, uid } = Deno.lstatSync(path);
        assertEquals([isFile, uid, modeOf(path)], [true, link === "user's" ? 0 : 1, mode], link);
      }
      assertEquals([modeOf(program), Deno.readTextFileSync(program)], ["4755", "program\n"]);
    }),
});

const TEXT = "text\n";
const SHA = hashBytes(new TextEncoder().encode(TEXT), "sha256").toHex();

Deno.test("a source is what its hash says, unless that is not to be verified, or the file server has said it", () =>
  withTemporaryDirectory(async (root) => {
    const sfn = `${root}/source`;
    Deno.writeTextFileSync(sfn, TEXT);
    const managed = async (more: Partial<Management>) => {
      const name = `${root}/f`;
      const sum = { hash_type: "sha256", hsum: "0".repeat(64) };
      const management = { ...MANAGEMENT, name, sfn, source: sfn, sum, ...more };
      const { result, comment } = await manageFile(readResult(name, null), management, fileHost(testContext()));
      if (result === true) Deno.removeSync(name);
      return result === true || comment;
    };
    const refusal = `Specified sha256 checksum for ${root}/f (${
      "0".repeat(64)
    }) does not match actual checksum (${SHA})`;
    assertStringIncludes(String(await managed({})), refusal);
    assertEquals(await managed({ skipVerify: true }), true);
    assertEquals(await managed({ source: "salt://source" }), true);
    assertEquals(await managed({ sum: { hash_type: "sha256", hsum: SHA } }), true);
  }));

Deno.test("a source that the file has already is not fetched; what a link leads to does not count, unless it is followed", () =>
  withTemporaryDirectory(async (root) => {
    const [file, link, copy] = [`${root}/f`, `${root}/link`, `${root}/copy`];
    for (const path of [file, copy]) Deno.writeTextFileSync(path, TEXT);
    Deno.symlinkSync(file, link);
    let fetched = 0;
    const host = fileHost(testContext());
    const cacheFile = () => Promise.resolve((fetched++, copy));
    const counting = { ...host, files: { ...host.files, cacheFile } };
    const fetches = async (more: Partial<Management>) => {
      fetched = 0;
      const sum = { hash_type: "sha256", hsum: SHA.toUpperCase() };
      const management = { ...MANAGEMENT, name: file, source: "salt://f", sum, follow: true, ...more };
      await manageFile(readResult(management.name, null), management, counting);
      return fetched;
    };
    assertEquals(await fetches({}), 0);
    assertEquals(await fetches({ follow: false }), 0);
    assertEquals(await fetches({ name: link }), 0);
    assertEquals(await fetches({ source: "https://host/f" }), 1);
    assertEquals(await fetches({ sum: undefined }), 1);
    assertEquals(await fetches({ sum: { hash_type: "sha256", hsum: "0".repeat(64) } }), 1);
    assertEquals(await fetches({ name: link, follow: false }), 1);
  }));

Deno.test("a source whose signature does not hold is not put in place, nor over what is there", () =>
  withTemporaryDirectory(async (root) => {
    const [sfn, name] = [`${root}/source`, `${root}/f`];
    Deno.writeTextFileSync(sfn, TEXT);
    const checkSource = () => Promise.reject(new CommandError("no good signature"));
    for (const there of [false, true]) {
      if (there) Deno.writeTextFileSync(name, "old\n");
      const management = {
        ...MANAGEMENT,
        name,
        sfn,
        source: sfn,
        sum: { hash_type: "sha256", hsum: SHA },
        checkSource,
      };
      const { result, comment } = await manageFile(readResult(name, null), management, fileHost(testContext()));
      assertEquals([result, comment], [false, "Failed checking new file's signature: no good signature"]);
      assertEquals(lexistsOrThrow(name), there);
    }
    assertEquals(Deno.readTextFileSync(name), "old\n");
  }));

Deno.test("a file gets the mode of its source if that is asked for, a new one and one that is there", () =>
  withTemporaryDirectory(async (root) => {
    const [sfn, name] = [`${root}/source`, `${root}/f`];
    Deno.writeTextFileSync(sfn, TEXT);
    for (const mode of ["750", "640"]) {
      Deno.chmodSync(sfn, Number.parseInt(mode, 8));
      const sum = { hash_type: "sha256", hsum: SHA };
      const management = { ...MANAGEMENT, name, sfn, source: sfn, sum, keepMode: true, mode: "0600" };
      assertEquals((await manageFile(readResult(name, null), management, fileHost(testContext()))).result, true);
      assertEquals(modeOf(name), mode);
    }
  }));

Deno.test("a file without a wanted mode has the mode that the umask leaves", () =>
  withTemporaryDirectory(async (root) => {
    for (const test of [false, true]) {
      const name = `${root}/${test}`;
      // In test mode nobody sets the mode afterwards.
      const host = fileHost(testContext({ opts: { ...testOpts(), test } }));
      await manageFile(readResult(name, null), { ...MANAGEMENT, name, contents: TEXT }, host);
      assertEquals(modeOf(name), (0o666 & ~currentUmask()).toString(8), name);
    }
  }));

Deno.test("a link that leads to no directory is the reason why nothing is put; another error of the system stays itself", () =>
  withTemporaryDirectory(async (root) => {
    const link = `${root}/link`, long = `${root}/${"x".repeat(300)}`;
    Deno.symlinkSync(`${root}/missing/file`, link);
    const put = (name: string, follow: boolean) =>
      manageFile(
        readResult(name, null),
        { ...MANAGEMENT, name, contents: TEXT, follow },
        fileHost(testContext()),
      );
    const { result, comment } = await put(link, true);
    assertEquals([result, comment], [
      false,
      `Failed to commit change: [Errno 2] No such file or directory: ${root}/missing/file`,
    ]);
    const error = await assertRejects(() => put(long, false));
    assertEquals(error instanceof CommandError, false, String(error));
    assertStringIncludes(String(error), "File name too long");
  }));

Deno.test("what cannot be compared is told in place of the difference", () =>
  withTemporaryDirectory(async (root) => {
    const name = `${root}/f`, sfn = `${root}/gone`;
    Deno.writeTextFileSync(name, "old\n");
    const sum = { hash_type: "sha256", hsum: SHA };
    const { changes } = await metaChanges(
      { ...MANAGEMENT, name, sfn, source: "salt://f", sum },
      fileHost(testContext()),
    );
    assertStringIncludes(String(changes.get("diff")), sfn);
  }));

Deno.test("the hash of a source is not asked of contents that replace a link", () =>
  withTemporaryDirectory(async (root) => {
    const name = `${root}/link`;
    Deno.writeTextFileSync(`${root}/target`, TEXT); // nothing differs but the link
    Deno.symlinkSync(`${root}/target`, name);
    const sum = { hash_type: "sha256", hsum: "0".repeat(64) };
    const { result } = await manageFile(
      readResult(name, null),
      { ...MANAGEMENT, name, contents: TEXT, sum },
      fileHost(testContext()),
    );
    assertEquals([result, Deno.lstatSync(name).isFile, Deno.readTextFileSync(name)], [true, true, TEXT]);
  }));

Deno.test("a directory in the place of a file that is to be empty is an error, and no file that was made", () =>
  withTemporaryDirectory(async (root) => {
    const name = `${root}/directory`;
    Deno.mkdirSync(name);
    const put = () => manageFile(readResult(name, null), { ...MANAGEMENT, name }, fileHost(testContext()));
    const error = await assertRejects(put, CommandError);
    assertStringIncludes(error.message, "Is a directory");
  }));
