/**
 * docs/modules.md: the sample module works, and the documented types are the real ones.
 * @module
 */

import type {
  ModuleFunction as Published,
  Permissions as PublishedPermissions,
} from "../../docs/samples/salt_module.d.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const SAMPLES = decodeURIComponent(new URL("../../docs/samples/", import.meta.url).pathname);
const ENTRY = decodeURIComponent(new URL("../../minion.ts", import.meta.url).pathname);

// The compiler checks that the documented types are the real ones.
type PublishedContext = Parameters<Published<Record<string, never>>["run"]>[1];
const _context = (context: Pick<JobContext, keyof PublishedContext>): Pick<JobContext, keyof PublishedContext> =>
  context;
const _permissions = (one: PublishedPermissions): Permissions => one;

Deno.test("salt-call runs the sample of docs/modules.md, and reloads it at each call", () =>
  withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/modules`);
    for (const name of ["periodic.ts", "salt_module.d.ts"]) {
      Deno.copyFileSync(`${SAMPLES}${name}`, `${root}/modules/${name}`);
    }
    Deno.writeTextFileSync(`${root}/minion`, JSON.stringify({ id: "web1", root_dir: root, module_dirs: [root] }));
    const call = (...words: string[]) =>
      run([
        Deno.execPath(),
        "run",
        "--allow-all",
        "--quiet",
        "--no-prompt",
        ENTRY,
        "--as",
        "salt-call",
        "-c",
        root,
        "--local",
        ...words,
      ]);
    const missing = await call("--retcode-passthrough", "periodic.scripts", "nosuch");
    assertEquals([missing.out, missing.code], ["local:\n    Nothing runs nosuch\n", 1], missing.err);
    const file = `${root}/modules/periodic.ts`;
    Deno.writeTextFileSync(file, Deno.readTextFileSync(file).replace("Nothing runs", "Not here:"));
    assertEquals((await call("periodic.scripts", "nosuch")).out, "local:\n    Not here: nosuch\n");
    assertEquals(/^local:\n {4}\d+%\n$/.test((await call("periodic.full", "/")).out), true);
  }));
