import { runProfiled } from "#lib/commands/cli/profiled.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("--enable-profiling writes a profile to --profiling-path, also for a command that fails; without it no file is written", () =>
  withTemporaryDirectory(async (root) => {
    let output = "";
    const place = {
      cachedir: `${root}/cache`,
      prog: "salt-run",
      io: { writeError: (text: string) => void (output += text) },
    };
    const names = (directory: string) => [...Deno.readDirSync(directory)].map(({ name }) => name);
    assertEquals(
      await runProfiled({ profiling_enabled: false, profiling_path: null }, place, () => Promise.resolve(1)),
      1,
    );
    assertEquals([output, names(root)], ["", []]);
    assertEquals(
      await runProfiled({ profiling_enabled: true, profiling_path: `${root}/own` }, place, () => Promise.resolve(2)),
      2,
    );
    const [file] = names(`${root}/own`);
    assertEquals(output, `CPU profile: ${root}/own/${file}\n`);
    assert(Array.isArray(JSON.parse(Deno.readTextFileSync(`${root}/own/${file}`)).nodes));
    const failing = () => Promise.reject(new Error("boom"));
    await assertRejects(
      () => runProfiled({ profiling_enabled: true, profiling_path: null }, place, failing),
      Error,
      "boom",
    );
    assertEquals(names(`${root}/cache`).length, 1);
  }));
