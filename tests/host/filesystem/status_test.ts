/**
 * The status of a file if the C library may not be called: its times are in milliseconds.
 * @module
 */

import { fileStatus } from "#lib/host/filesystem/status.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

Deno.test("without the C library the times of a file, also of a link itself, come from the runtime", () =>
  withTemporaryDirectory(async (directory) => {
    const file = `${directory}/file`;
    Deno.writeTextFileSync(file, "text");
    const when = new Date("2026-01-02T03:04:05.678Z");
    Deno.utimeSync(file, when, when);
    Deno.symlinkSync("file", `${directory}/link`);
    const lib = new URL("../../../lib/host/filesystem/status.ts", import.meta.url).href;
    const script = `${directory}/script.ts`;
    Deno.writeTextFileSync(
      script,
      `import { fileStatus } from "${lib}";
      const of = (follow: boolean) => fileStatus("${directory}/link", { follow });
      const statuses = [of(true), of(false)].map(({ type, size, mtime }) => [type, size, mtime]);
      Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(statuses)));`,
    );
    const args = ["run", "--no-prompt", "--quiet", "--no-lock", "--node-modules-dir=manual", "--allow-read"];
    args.push("--config", TREE_CONFIG);
    args.push("--allow-env", "--allow-sys", "--allow-run=getent", script);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
    const [followed, itself] = JSON.parse(new TextDecoder().decode(stdout) || `"${new TextDecoder().decode(stderr)}"`);
    assertEquals(followed, ["file", 4, when.getTime() / 1000]);
    const exact = fileStatus(`${directory}/link`, { follow: false });
    assertEquals([itself[0], itself[1], itself[2]], ["link", 4, Math.floor(exact.mtime * 1000) / 1000]);
  }));
