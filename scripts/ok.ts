/**
 * `deno task ok`: runs all checks that must pass before a commit. The output of a gate is shown if it fails; its lines
 * about flaky tests are always shown. The last line has the result.
 * @module
 */

import { parseOptions } from "./options.ts";
import { runScript } from "./run_script.ts";
import { writeOut as say } from "#lib/commands/cli/process_io.ts";

const USAGE = `Usage: deno task ok [--without-tests]
`;

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

/** One command that must succeed. */
export interface Gate {
  /** What it checks. */
  readonly name: string;
  /** Arguments of Deno. */
  readonly args: readonly string[];
}

/** The commands, in the order in which they run. */
export function gates(): Gate[] {
  return [
    { name: "format", args: ["fmt", "--check"] },
    // With scripts/docs_plugin.ts: a file, a class, and a function or method with parameters has a docstring; none
    // repeats a name.
    { name: "lint", args: ["lint"] },
    { name: "types", args: ["check"] },
    // Browsers' code has another library of types, no `lib/os`, and copies of npm's packages beside it.
    {
      name: "types of the console",
      args: ["check", "--config", "lib/console/browser/deno.json", "lib/console/browser/"],
    },
    {
      name: "lint of the console",
      args: ["lint", "--config", "lib/console/browser/deno.json", "lib/console/browser/"],
    },
    { name: "structure", args: ["run", "--allow-read", "scripts/structure.ts"] },
    { name: "tests", args: ["task", "test"] },
  ];
}

async function main(argv: string[]): Promise<number> {
  const { values: options } = parseOptions({ args: argv, options: { "without-tests": { type: "boolean" } } });
  Deno.chdir(ROOT);
  let failed = 0;
  let passed = 0;
  for (const { name, args } of gates()) {
    if (options["without-tests"] && name === "tests") continue;
    const started = performance.now();
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args] }).output();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    if (success) {
      passed++;
      const text = new TextDecoder().decode(stdout);
      for (const line of text.split("\n").filter((line) => line.startsWith("flaky: "))) say(`${line}\n`);
    } else {
      failed++;
      for (const bytes of [stdout, stderr]) Deno.stdout.writeSync(bytes);
    }
    say(`${name}: ${success ? "passed" : "failed"} (${seconds} s)\n`);
  }
  say(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

if (import.meta.main) await runScript(main, { name: "ok", usage: USAGE });
