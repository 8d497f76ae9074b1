/** Temporary files of `file.manage_file`, and what a file that is put in place keeps of the old one. */

import { installFile } from "#lib/host/filesystem/backups.ts";
import { manageFile, type Management } from "#lib/host/filesystem/managing.ts";
import { readResult } from "#lib/host/filesystem/permission_check.ts";
import { fileHost } from "#modules/execution/_file_host.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
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
