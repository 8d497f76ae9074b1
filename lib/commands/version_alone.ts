/**
 * What an executable runs for `--version` and nothing else: the answer needs neither the options of the command nor what else its
 * script holds. The launcher gives the program's name.
 * @module
 */

import { VERSION_TEXT } from "../version.ts";
import { writeOut } from "../cli/process_io.ts";

if (import.meta.main) {
  writeOut(`${Deno.args[0]} ${VERSION_TEXT}\n`);
  Deno.exit(0);
}
