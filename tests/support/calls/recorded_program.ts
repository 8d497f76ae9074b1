/**
 * Recorded programs: a directory at the beginning of PATH has scripts with their names, which record their arguments
 * and print the test's answers.
 * @module
 */

import type { ChildSpec } from "#lib/programs/child_process.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { type TestContext, testContext } from "./job_context.ts";

/** The answer of a program to arguments that match a shell pattern: `is-active cron.service`, `* status *`. */
export interface RecordedAnswer {
  readonly args: string;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
}

/** The directory; disposing of the object removes it. */
export class RecordedPrograms implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "recorded_" });
  readonly #place = new SearchPath(this.path);

  /** Sets a program's answers. The first match is used; without a match the program prints nothing. */
  answer(program: string, answers: readonly RecordedAnswer[] = []): void {
    const cases = answers.map(({ args, stdout = "", stderr = "", code = 0 }, i) => {
      Deno.writeTextFileSync(`${this.path}/${program}.${i}.out`, stdout);
      Deno.writeTextFileSync(`${this.path}/${program}.${i}.err`, stderr);
      const pattern = args === "" ? "''" : args.replace(/[^\w.*?@=:,/-]/g, (one) => `\\${one}`);
      return `${pattern}) cat '${this.path}/${program}.${i}.out'; cat '${this.path}/${program}.${i}.err' >&2; exit ${code};;`;
    });
    Deno.writeTextFileSync(
      `${this.path}/${program}`,
      `#!/bin/sh\necho "${program} $*" >> '${this.path}/calls'\n[ -t 0 ] || cat >> '${this.path}/${program}.in'\n` +
        `case "$*" in\n${cases.join("\n")}\nesac\n`,
    );
    Deno.chmodSync(`${this.path}/${program}`, 0o755);
  }

  /**
   * Makes a `crontab` that keeps one table.
   * @returns The path of the table, which does not exist yet.
   */
  keepCrontab(): string {
    const table = `${this.path}/tab`;
    Deno.writeTextFileSync(
      `${this.path}/crontab`,
      `#!/bin/sh\nif [ "$1" = -l ]; then cat ${table}; else cat "$1" > ${table}; fi\n`,
      { mode: 0o755 },
    );
    return table;
  }

  /** The calls since the last call of this method, a line each. */
  calls(): string[] {
    try {
      return Deno.readTextFileSync(`${this.path}/calls`).split("\n").slice(0, -1);
    } catch {
      return [];
    } finally {
      Deno.writeTextFileSync(`${this.path}/calls`, "");
    }
  }

  [Symbol.dispose](): void {
    this.#place[Symbol.dispose]();
    Deno.removeSync(this.path, { recursive: true });
  }
}

/**
 * A context whose programs only record their arguments.
 * @param outputs What a program prints, by its words.
 */
export function recordingContext(
  outputs: (words: readonly string[]) => string,
): { readonly words: string[][]; readonly context: TestContext } {
  const words: string[][] = [];
  const runChild = ({ argv }: ChildSpec) => {
    const own = argv[0] === "/bin/sh" && argv[3] === "sh" ? argv.slice(4) : argv;
    words.push([...own]);
    const dropped = { stdout: 0, stderr: 0 };
    const stdout = new TextEncoder().encode(outputs(own));
    return Promise.resolve({ pid: 1, retcode: 0, stdout, stderr: new Uint8Array(), timedOut: false, dropped });
  };
  return { words, context: testContext({ runChild }) };
}
