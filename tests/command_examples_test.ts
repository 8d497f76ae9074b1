import { helpText } from "../lib/command_help.ts";
import { type CliTable, type CommandLine, parseCommandLine } from "../lib/command_line.ts";
import { loadCatalogue, loadFamily } from "../lib/loader.ts";
import { RUNNERS } from "../lib/runners.ts";
import { SALT_CALL } from "../lib/salt_call_options.ts";
import { SALT_CP } from "../lib/salt_cp_options.ts";
import { SALT_KEY } from "../lib/salt_key_options.ts";
import { SALT } from "../lib/salt_options.ts";
import { SALT_RUN } from "../lib/salt_run_options.ts";
import { shlexSplit } from "../lib/shlex.ts";
import { assert, assertEquals, assertStringIncludes } from "./assert.ts";

const COMMANDS: readonly CommandLine<CliTable>[] = [SALT, SALT_KEY, SALT_RUN, SALT_CP, SALT_CALL];

/** The functions that a command runs. */
async function functionsOf({ prog }: CommandLine<CliTable>): Promise<Set<string>> {
  const all = prog === "salt-run" ? await loadFamily(RUNNERS).all() : await loadCatalogue().all();
  return new Set(all.map(({ name }) => name));
}

for (const command of COMMANDS) {
  Deno.test(`the examples in ${command.prog} --help are lines that it takes, of functions that there are`, async () => {
    const functions = await functionsOf(command);
    assert(command.examples !== undefined && command.examples.length > 0);
    for (const [line] of command.examples) {
      assertStringIncludes(helpText(command), `\n  ${line}  `);
      const [prog, ...argv] = shlexSplit(line);
      const request = parseCommandLine(command, argv);
      assertEquals([prog, request.kind], [command.prog, "run"], line);
      const named = argv.find((word) => /^[a-z]+\.[a-z_]+$/.test(word));
      if (named !== undefined) assert(functions.has(named), line);
    }
  });
}
