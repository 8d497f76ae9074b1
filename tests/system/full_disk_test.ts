/**
 * A disk that becomes full in the middle of a file, on a small file system of its own: the state fails with the error's
 * name, the old file is unchanged, no other file is left, and the next run succeeds.
 * @module
 */

import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const MINION = new URL("../../minion.ts", import.meta.url).pathname;

const missing = whyNoMountNamespace();
const NAME = "file.managed on a full disk fails by name and leaves the old file, and the next run heals it";

Deno.test(
  { name: missing ? `${NAME} (skipped: ${missing})` : NAME, ignore: missing !== undefined },
  () =>
    withTemporaryDirectory(async (root) => {
      for (const folder of ["srv", "host", "etc"]) await Deno.mkdir(`${root}/${folder}`);
      await Deno.writeTextFile(`${root}/srv/large.txt`, "a new line\n".repeat(20_000));
      const state = (id: string, source: string) =>
        `${id}:\n  file.managed:\n    - name: ${root}/host/${id}\n    - ${source}\n`;
      await Deno.writeTextFile(
        `${root}/srv/t.sls`,
        state("large", "source: salt://large.txt") + state("small", "contents: small"),
      );
      const config = { root_dir: root, id: "m1", file_client: "local", file_roots: { base: [`${root}/srv`] } };
      await Deno.writeTextFile(`${root}/etc/minion`, JSON.stringify(config));
      const apply = [Deno.execPath(), ...DENO_RUN, MINION, "--as", "salt-call", "--local", "-c", `${root}/etc`];
      const call = [...apply, "--out=json", "--log-level=quiet", "state.apply", "t"].map((word) => `'${word}'`).join(
        " ",
      );
      const script = [
        `mount -t tmpfs -o size=100k none ${root}/host`,
        `echo old > ${root}/host/large`,
        `${call} > ${root}/first.json`,
        `ls -A ${root}/host > ${root}/listed`,
        `cat ${root}/host/large > ${root}/kept`,
        `mount -o remount,size=1m ${root}/host`,
        `${call} > ${root}/second.json`,
        `cat ${root}/host/large > ${root}/healed`,
      ].join("\n");
      const [unshare, ...args] = UNSHARE_MOUNTS;
      const { stderr } = await new Deno.Command(unshare, { args: [...args, "sh", "-c", script], stderr: "piped" })
        .output();
      const read = (name: string) => Deno.readTextFileSync(`${root}/${name}`);
      const results = (name: string): { result: boolean; comment: string }[] =>
        Object.values(JSON.parse(read(name)).local);
      const [large, small] = results("first.json");
      assertEquals([large.result, small.result], [false, true], new TextDecoder().decode(stderr));
      assertStringIncludes(large.comment, "No space left on device");
      assertEquals([read("kept"), read("listed")], ["old\n", "large\nsmall\n"]);
      assert(results("second.json").every(({ result }) => result));
      assertEquals(read("healed"), read("srv/large.txt"));
    }),
);
