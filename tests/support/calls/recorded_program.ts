/**
 * Programs that are not run but recorded: a directory at the beginning of PATH has scripts of their names, which note
 * their arguments and answer what the test says.
 * @module
 */

import { SearchPath } from "../search_path.ts";

/** What a program answers for arguments that match, a shell's pattern: `is-active cron.service`, `* status *`. */
export interface RecordedAnswer {
  readonly args: string;
  readonly stdout?: string;
  readonly stderr?: string;
  readonly code?: number;
}

/** The directory, until it is disposed of. */
export class RecordedPrograms implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "recorded_" });
  readonly #place = new SearchPath(this.path);

  /** Sets a program's answers; the first one that matches is used, and without one it prints nothing. */
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

  /** Has a `crontab` keep one table. @returns The table's file, which is not there yet. */
  keepCrontab(): string {
    const table = `${this.path}/tab`;
    Deno.writeTextFileSync(
      `${this.path}/crontab`,
      `#!/bin/sh\nif [ "$1" = -l ]; then cat ${table}; else cat "$1" > ${table}; fi\n`,
      { mode: 0o755 },
    );
    return table;
  }

  /** The calls since the last time, a line each. */
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
