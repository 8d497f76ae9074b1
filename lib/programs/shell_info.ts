/**
 * Shells and interpreters: whether they are installed, and in which version.
 * Source: Salt 3008.3, `salt/modules/cmdmod.py`.
 * @module
 */

import type { CommandHost } from "./command.ts";
import { runProgram } from "./run_program.ts";
import { which } from "./which.ts";

/** The option of each that prints its version. */
const SHELLS: Readonly<Record<string, { readonly version: RegExp; readonly words: readonly string[] }>> = {
  bash: { version: /version (\d\S*)/i, words: ["bash", "--version"] },
  zsh: { version: /^zsh (\d\S*)/i, words: ["zsh", "--version"] },
  tcsh: { version: /^tcsh (\d\S*)/i, words: ["tcsh", "--version"] },
  cmd: { version: /Version ([\d.]+)/i, words: ["cmd.exe", "/C", "ver"] },
  powershell: { version: /PSVersion\s+(\d\S*)/i, words: ["powershell", "-NonInteractive", "$PSVersionTable"] },
  perl: { version: /^(\d\S*)/i, words: ["perl", "-e", 'printf "%vd\\n", $^V;'] },
  python: { version: /^Python (\d\S*)/i, words: ["python", "-V"] },
  ruby: { version: /^ruby (\d\S*)/i, words: ["ruby", "-v"] },
  php: { version: /^PHP (\d\S*)/i, words: ["php", "-v"] },
};

/** Seconds for an answer. */
const TIMEOUT = 10;

/** `installed`, and `path`, `version` and `version_raw`, or the error as `error`. */
export async function shellInfo(shell: string, host: CommandHost): Promise<Record<string, unknown>> {
  if (!Object.hasOwn(SHELLS, shell)) {
    return { error: `Salt does not know how to get the version number for ${shell}`, installed: null };
  }
  const { version, words } = SHELLS[shell];
  const command = words.join(" ");
  const path = which(words[0]);
  if (path === undefined) {
    const reason = `[Errno 2] No such file or directory: '${words[0]}'`;
    return { error: `Unable to run command '${command}' Reason: ${reason}`, installed: false };
  }
  const { stdout, stderr } = await runProgram(words, host, { timeout: TIMEOUT });
  if (stdout.includes("Timed out after")) {
    return { error: `Unable to run command '${command}' Reason: Timed out.`, installed: false };
  }
  const output = [stdout, stderr].filter((text) => text !== "").join("\n");
  const raw = version.exec(output)?.[1];
  const [, digits] = /^(\d[\d.]*)/.exec(raw ?? "") ?? [];
  if (digits !== undefined) {
    const parts = digits.split(".").slice(0, 3);
    return { installed: true, path, version_raw: raw, version: parts.length === 1 ? `${parts[0]}.0` : parts.join(".") };
  }
  const problem = `The version regex pattern for shell ${shell}, could not find the version string`;
  host.log("error", problem);
  return { installed: null, path, ...raw === undefined ? {} : { version_raw: raw }, error: problem, stdout: output };
}
