/**
 * The code that an executable runs for `--version` alone: it loads neither the command's options nor the rest of its
 * script. The launcher passes the program's name.
 * @module
 */

import { VERSION_TEXT } from "#lib/version.ts";
import { writeOut } from "#lib/commands/cli/process_io.ts";

if (import.meta.main) {
  writeOut(`${Deno.args[0]} ${VERSION_TEXT}\n`);
  Deno.exit(0);
}
