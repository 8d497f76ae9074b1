/**
 * The program gpg of GnuPG 2.1 or later, with a home directory, and a keyring if not the home's own. Parses its status
 * lines into words; the other files of this room interpret them.
 *
 * Texts are UTF-8 both ways, as gpg has them.
 * Source: doc/DETAILS of GnuPG; the arguments are those of python-gnupg 0.5.7, which Salt 3008.3 uses.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { type ChildOutcome, runChild } from "#lib/programs/child_process.ts";
import { buildEnvironment } from "#lib/programs/command_environment.ts";
import { requireProgram } from "#lib/programs/run_program.ts";
import { splitLines } from "#lib/text/split_lines.ts";

/** Maximum bytes of output: a decrypted message, or the keys of a large keyring. */
const OUTPUT_MAX = 256 << 20;

/** One line of the status descriptor. */
export interface GpgStatusLine {
  /** `GOODSIG` */
  readonly key: string;
  /** The rest of the line; may be empty. */
  readonly value: string;
}

/** The outcome of a run of gpg. */
export interface GpgOutcome {
  readonly retcode: number;
  readonly stdout: Uint8Array;
  /** Messages and status lines, in the order received. */
  readonly stderr: string;
  /** The status lines in their order. */
  readonly status: readonly GpgStatusLine[];
}

/** The parts of a job that gpg uses; a job's context provides them. */
export interface GpgHost {
  readonly signal: AbortSignal;
  /** Called when gpg starts and when it has ended. */
  child(pid: number, state: "started" | "ended"): void;
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

/** The input of one call. */
export interface GpgInput {
  /** The standard input of gpg. */
  readonly input?: Uint8Array | string;
  /** The path of a file to read after {@linkcode input}; it does not pass through this process's memory. */
  readonly file?: string;
  /** One line; gpg does not ask for it then. */
  readonly passphrase?: string;
}

/** Where gpg looks for keys. */
export interface GpgPlace {
  /** The home directory, which must be there. */
  readonly home: string;
  /** The path of a keyring that is used instead of the home's own. */
  readonly keyring?: string;
}

/** gpg with the keys of one place. */
export class Gpg {
  readonly #place: GpgPlace;
  readonly #host: GpgHost;
  readonly #outputMax: number;

  /** @param outputMax Maximum bytes of one call's output. */
  constructor(place: GpgPlace, host: GpgHost, outputMax = OUTPUT_MAX) {
    this.#place = place;
    this.#host = host;
    this.#outputMax = outputMax;
  }

  /**
   * Runs gpg to its end, whatever its return code.
   * @param words Command and options. A word that may begin with `-` must be after `--`.
   * @throws {CommandError} If there is no gpg, or its output is too large.
   */
  async run(words: readonly string[], { input, file, passphrase }: GpgInput = {}): Promise<GpgOutcome> {
    if (passphrase !== undefined && /[\n\r\0]/.test(passphrase)) throw new InvocationError("Invalid passphrase");
    const argv = [requireProgram("gpg"), ...this.#options(passphrase !== undefined), ...words];
    const stdin = inputBytes(input, passphrase);
    this.#host.log("debug", `gpg ${words.join(" ")}`);
    const outcome = await runChild({
      argv: file === undefined ? argv : withFile(argv, file),
      cwd: "/",
      env: buildEnvironment({ given: {}, login: {}, clean: false, prependPath: null, resetLocale: false }),
      ...stdin !== undefined && { stdin },
    }, {
      signal: this.#host.signal,
      child: (pid, state) => this.#host.child(pid, state),
      outputMax: this.#outputMax,
    });
    if (outcome.dropped.stdout + outcome.dropped.stderr > 0) {
      throw new CommandError(`gpg wrote more than ${this.#outputMax} bytes`);
    }
    if (outcome.retcode !== 0) {
      this.#host.log("warning", `gpg returned a non-zero error code: ${outcome.retcode}`);
    }
    return asOutcome(outcome);
  }

  #options(passphrase: boolean): string[] {
    const { home, keyring } = this.#place;
    return [
      ...passphrase ? ["--pinentry-mode", "loopback"] : [],
      ...["--status-fd", "2", "--no-tty", "--no-verbose", "--fixed-list-mode", "--batch", "--with-colons"],
      ...["--homedir", home],
      ...keyring === undefined ? [] : ["--no-default-keyring", "--keyring", keyring],
      ...passphrase ? ["--passphrase-fd", "0"] : [],
    ];
  }
}

/** The words of a shell that gives a program its own input and then a file. */
function withFile(argv: readonly string[], file: string): string[] {
  return ["/bin/sh", "-c", 'file=$1; shift; cat - "$file" | "$@"', "sh", file, ...argv];
}

function inputBytes(input: Uint8Array | string | undefined, passphrase: string | undefined): Uint8Array | undefined {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  if (passphrase === undefined) return bytes;
  const first = new TextEncoder().encode(`${passphrase}\n`);
  const all = new Uint8Array(first.length + (bytes?.length ?? 0));
  all.set(first);
  if (bytes !== undefined) all.set(bytes, first.length);
  return all;
}

function asOutcome({ retcode, stdout, stderr }: ChildOutcome): GpgOutcome {
  const text = new TextDecoder().decode(stderr);
  const status = splitLines(text).filter((line) => line.startsWith("[GNUPG:] ")).map((line) => {
    const [, key, value] = /^(\S*)\s*(.*)$/.exec(line.slice(9).trim()) ?? ["", "", ""];
    return { key, value };
  });
  return { retcode, stdout, stderr: text, status };
}
