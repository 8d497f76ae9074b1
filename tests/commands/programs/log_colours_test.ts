/**
 * One rule decides for all commands whether the log on a terminal has colours.
 * @module
 */

import type { CommandIo, JobIo } from "#lib/commands/cli/run_command.ts";
import { runSalt } from "#lib/commands/programs/salt.ts";
import { runSaltCall } from "#lib/commands/programs/salt_call.ts";
import { runSaltCp } from "#lib/commands/programs/salt_cp.ts";
import { runSaltKey } from "#lib/commands/programs/salt_key.ts";
import { runSaltRun } from "#lib/commands/programs/salt_run.ts";
import { assertStringIncludes } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const none = () => Promise.reject(new Error("nothing is fired or run here"));

/**
 * Each command with arguments that need no master, or fail without one. Its configuration has an unknown option, which
 * is logged.
 */
const COMMANDS: Readonly<Record<string, (config: string, io: JobIo) => Promise<number>>> = {
  "salt": (config, io) => runSalt(["-c", config, "--preview-target", "*"], io),
  "salt-call": (config, io) => runSaltCall(["-c", config, "--local", "test.ping"], io),
  "salt-cp": (config, io) => runSaltCp(["-c", config, "*", "/etc/hostname", "/tmp"], io),
  "salt-key": (config, io) => runSaltKey(["-c", config, "-L"], { ...io, readLine: none, fire: none }),
  "salt-run": (config, io) =>
    runSaltRun(["-c", config, "-d", "test.arg"], {
      ...io,
      fire: none,
      local: () => {
        throw new Error("no minion is reached here");
      },
      startDetached: () => {},
    }),
};

/** The kinds of standard error, and the beginning of a warning on each. */
const PLACES: Readonly<Record<string, [Partial<CommandIo>, config: string, begins: string]>> = {
  "a terminal": [{ isErrorTerminal: true }, "", "\x1b[0;1;33m[WARNING ]\x1b[0;0m"],
  "a file, with standard output on a terminal": [{ isTerminal: true }, "", "[WARNING ]"],
  "a terminal, with NO_COLOR": [{ isErrorTerminal: true, noColor: "1" }, "", "[WARNING ]"],
  "a terminal, with color: false": [{ isErrorTerminal: true }, "color: false\n", "[WARNING ]"],
};

for (const [name, run] of Object.entries(COMMANDS)) {
  for (const [place, [changes, config, begins]] of Object.entries(PLACES)) {
    Deno.test(`${name} on ${place} logs ${begins.startsWith("\x1b") ? "in colour" : "without colour"}`, () =>
      withTemporaryDirectory(async (root) => {
        for (const role of ["master", "minion"]) {
          Deno.writeTextFileSync(`${root}/${role}`, `root_dir: ${root}\nid: x\nno_such_option: 1\n${config}`);
        }
        let err = "";
        await run(root, {
          write: () => {},
          writeError: (text) => void (err += text),
          isTerminal: false,
          isErrorTerminal: false,
          noColor: "",
          readStdin: () => Promise.resolve(""),
          signal: new AbortController().signal,
          ...changes,
        });
        const line = err.split("\n").find((line) => line.includes("no_such_option")) ?? err;
        assertStringIncludes(`|${line}`, `|${begins}`);
      }));
  }
}
