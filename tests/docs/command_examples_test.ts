import { helpText } from "#lib/commands/cli/help.ts";
import { type CliTable, type CommandLine, parseCommandLine } from "#lib/commands/cli/command_line.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { SALT_CALL } from "#lib/commands/programs/salt_call_options.ts";
import { SALT_CP } from "#lib/commands/programs/salt_cp_options.ts";
import { SALT_SSH } from "#lib/commands/ssh/salt_ssh_options.ts";
import { SALT_KEY } from "#lib/commands/programs/salt_key_options.ts";
import { SALT } from "#lib/commands/programs/salt_options.ts";
import { SALT_RUN } from "#lib/commands/programs/salt_run_options.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";

const COMMANDS: readonly CommandLine<CliTable>[] = [SALT, SALT_KEY, SALT_RUN, SALT_CP, SALT_SSH, SALT_CALL];

/** The functions that a command runs. */
async function functionsOf({ prog }: CommandLine<CliTable>): Promise<Set<string>> {
  const all = prog === "salt-run" ? await loadFamily(RUNNERS).all() : await loadCatalogue().all();
  return new Set(all.map(({ name }) => name));
}

/** Checks that `command` accepts `line` and that its function exists. */
async function checkLine(command: CommandLine<CliTable>, line: string): Promise<void> {
  const [prog, ...argv] = shlexSplit(line);
  const request = parseCommandLine(command, argv);
  assertEquals([prog, request.kind], [command.prog, "run"], line);
  const named = argv.find((word) => /^[a-z]+\.[a-z_]+$/.test(word));
  if (named !== undefined) assert((await functionsOf(command)).has(named), line);
}

for (const command of COMMANDS) {
  Deno.test(`the examples in ${command.prog} --help are valid command lines of existing functions`, async () => {
    assert(command.examples !== undefined && command.examples.length > 0);
    for (const [line] of command.examples) {
      assertStringIncludes(helpText(command), `\n  ${line}  `);
      await checkLine(command, line);
    }
  });
}

/** The shell lines in the text of a page, without comments. */
function shellLines(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, block]) => block);
  return blocks.flatMap((block) => block.split("\n")).map((line) => line.replace(/\s+#.*$/, "").trim());
}

Deno.test("every command of ours in the README and the documents is a valid command line", async () => {
  const root = new URL("../../", import.meta.url);
  const documents = [...Deno.readDirSync(new URL("docs/", root))].map(({ name }) => `docs/${name}`);
  let checked = 0;
  for (const page of ["README.md", ...documents.filter((name) => name.endsWith(".md"))]) {
    for (const line of shellLines(Deno.readTextFileSync(new URL(page, root)))) {
      const command = COMMANDS.find(({ prog }) => line.startsWith(`${prog} `));
      if (command === undefined) continue;
      await checkLine(command, line);
      checked++;
    }
  }
  assert(checked > 10, `only ${checked} were found`);
});
