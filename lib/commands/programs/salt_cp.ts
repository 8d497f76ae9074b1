/**
 * `salt-cp`: copies files of this host to minions, by their `cp.recv` and `cp.recv_chunked`. Each piece is a separate
 * job, and the next one goes only to minions that stored it, so a file with a gap is never reported as copied. Exit
 * codes: 0 success; 1 a minion failed or did not return, or a source cannot be sent; 2 no minion matched; 42 a source
 * does not exist; 64 usage; 69 no master; 77 refused; 130 Ctrl-C.
 * Source: Salt's `salt/cli/cp.py`.
 * @module
 */

import { toWireArgs } from "#lib/yaml/arguments.ts";
import { type Failure, interruptedRun, type JobIo, runCli } from "#lib/commands/cli/run_command.ts";
import type { Parsed } from "#lib/commands/cli/command_line.ts";
import { actAsServiceUser, type ActingCommand } from "#lib/commands/cli/command_user.ts";
import { openSigner } from "#lib/commands/cli/open_signer.ts";
import { loadClientConfig } from "#lib/config/load.ts";
import { SourceError, TargetError, UsageError } from "#lib/errors.ts";
import { EX_MINIONS, EX_NO_MINIONS } from "#lib/commands/cli/exit_codes.ts";
import { gzip } from "#lib/values/gzip.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { timeoutsOf } from "#lib/client/job.ts";
import { LocalClient, newReturnKey } from "#lib/client/local.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { ReturnKey } from "#lib/protocol/return_key.ts";
import { type Outcome, silenceText } from "#lib/protocol/outcome.ts";
import { failuresText, type MinionEnd } from "#lib/commands/report/failures.ts";
import { plainRetcode } from "#lib/protocol/retcode.ts";
import { listSources, readPieces, readTextFiles } from "./salt_cp_files.ts";
import { SALT_CP, type SaltCpTable } from "./salt_cp_options.ts";
import { listTarget } from "./salt_job.ts";
import { NO_RETURN_TEXT } from "./salt_session.ts";
import { masterFailure } from "./master_failure.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import { withCommand } from "#lib/commands/cli/with_command.ts";
import { targetType } from "./target_type.ts";
import { useColours } from "#lib/text/terminal.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Runs `salt-cp` with the words of its command line.
 * @returns The exit code.
 */
export function runSaltCp(argv: readonly string[], io: JobIo): Promise<number> {
  const run = (parsed: Parsed<SaltCpTable>) => runParsed(parsed, io);
  return runCli({ command: SALT_CP, owner: "the master's user", run, failure }, argv, io);
}

function failure(error: Error): Failure | undefined {
  if (error instanceof SourceError) return { exitCode: error.exitCode };
  if (error instanceof TargetError) return { exitCode: EX_NO_MINIONS, text: NO_RETURN_TEXT };
  return masterFailure(error);
}

async function runParsed(parsed: Parsed<SaltCpTable>, io: JobIo): Promise<number> {
  const { options, args } = parsed;
  if (args.length < 3) throw new UsageError("Insufficient arguments");
  const [target, ...sources] = args.slice(0, -1);
  const dest = args[args.length - 1];
  const tgtType = targetType(options);
  const tgt = tgtType === "list" ? listTarget(target) : target;
  const loaded = startUp(SALT_CP, parsed, { role: "master", load: loadClientConfig });
  // With the rights of the calling user, whose key it is.
  using signer = await openSigner(loaded.opts.sign, io.ask);
  // Only the sources are read with the rights of the caller.
  return await withCommand(
    { io, options, loaded, takeRights: actAsServiceUser },
    async ({ opts, log, print, rights }) => {
      const { caller, asCaller } = rights;
      const { delimiter } = options;
      if (tgtType !== "glob") {
        const { checkTarget } = await import("./check_target.ts");
        checkTarget({ tgt, tgtType }, { nodegroups: opts.nodegroups, delimiter });
      }
      try {
        using client = await LocalClient.connect(opts, { user: caller, log, signer });
        const noLog = options.no_log ? await newReturnKey() : undefined;
        const copy = new Copy({ tgt, tgtType, kwargs: map({ delimiter }) }, { client, opts, io, asCaller, noLog });
        if (options.chunked) await copy.sendPieces(sources, { dest, compress: !options.no_compression });
        else await copy.sendWhole(sources, dest);
        if (io.signal.aborted) return interruptedRun(io);
        print(copy.results, { retcode: copy.failures.size > 0 ? EX_MINIONS : 0 });
        if (copy.failures.size === 0) return 0;
        const color = useColours({
          isTerminal: io.isErrorTerminal,
          noColor: options.no_color,
          noColorVariable: io.noColor,
          configured: opts.color,
        });
        io.writeError(failuresText([...copy.failures.values()], { color }));
        return EX_MINIONS;
      } catch (error) {
        if (error instanceof TargetError) {
          const { NO_MINIONS_MATCHED, noMinionsHint } = await import("./no_minions_hint.ts");
          io.write(NO_MINIONS_MATCHED);
          io.writeError(noMinionsHint({ tgt, tgtType }, new KeyStore(opts.pki_dir), opts));
        }
        throw error;
      }
    },
  );
}

interface Target {
  readonly tgt: Value;
  readonly tgtType: string;
  /** Fields for the master besides the job itself. */
  readonly kwargs?: ValueMap;
}

/** The result of one job on one minion. */
interface Part {
  readonly id: string;
  /** Whether it returned with return code 0. */
  readonly well: boolean;
  readonly retcode: number;
  readonly outcome: Outcome;
  /** The return, or the reason why there is none. */
  readonly result: Value;
}

/** One run of the command. */
class Copy {
  /** The results by minion, then by file. */
  readonly results: ValueMap = new Map();
  /** The minions on which something failed, each with its first failure. */
  readonly failures = new Map<string, MinionEnd>();
  readonly #target: Target;
  readonly #opts: MasterOpts;
  readonly #io: JobIo;
  readonly #client: LocalClient;
  readonly #asCaller: ActingCommand["asCaller"];
  readonly #noLog: ReturnKey | undefined;

  constructor(
    target: Target,
    { client, opts, io, asCaller, noLog }: {
      readonly client: LocalClient;
      readonly opts: MasterOpts;
      readonly io: JobIo;
      /** Runs with the caller's rights, for reading the sources. */
      readonly asCaller: ActingCommand["asCaller"];
      readonly noLog: ReturnKey | undefined;
    },
  ) {
    this.#asCaller = asCaller;
    this.#target = target;
    this.#client = client;
    this.#opts = opts;
    this.#io = io;
    this.#noLog = noLog;
  }

  /** Sends everything in one job. */
  async sendWhole(sources: readonly string[], dest: string): Promise<void> {
    const files = this.#asCaller(() => readTextFiles(sources));
    for (const part of await this.#run(this.#target, "cp.recv", { files, dest })) {
      const { id, well, result } = part;
      this.results.set(id, result);
      const isWritten = isMap(result) && [...result.values()].every((one) => one === true);
      if (!well || !isWritten) this.#fail(part);
    }
  }

  /** Sends each file in pieces, and makes empty directories. */
  async sendPieces(
    sources: readonly string[],
    { dest, compress }: { readonly dest: string; readonly compress: boolean },
  ): Promise<void> {
    const tree = this.#asCaller(() => listSources(sources, dest));
    for (const { path, dest: place, mode } of tree.files) {
      let target = this.#target;
      let append = false;
      const file = this.#asCaller(() => Deno.openSync(path));
      for await (const piece of readPieces(file, this.#opts.salt_cp_chunk_size)) {
        const chunk = (compress ? await gzip(piece) : piece).toBase64();
        const parts = await this.#run(target, "cp.recv_chunked", {
          dest: place,
          chunk,
          append,
          compressed: compress,
          mode,
        });
        this.#note(parts, place);
        // A minion that missed a piece gets no further pieces of that file: they would be at the wrong offset.
        const ids = parts.filter(tookPiece).map(({ id }) => id);
        target = { tgt: ids, tgtType: "list" };
        append = true;
        if (this.#io.signal.aborted) return;
        if (ids.length === 0) break;
      }
    }
    for (const place of tree.emptyDirectories) {
      this.#note(await this.#run(this.#target, "cp.recv_chunked", { dest: place, chunk: null }), place);
      if (this.#io.signal.aborted) return;
    }
  }

  #fail({ id, retcode, outcome }: Part): void {
    if (!this.failures.has(id)) this.failures.set(id, { id, retcode: retcode || EX_MINIONS, outcome });
  }

  #note(parts: readonly Part[], place: string): void {
    for (const part of parts) {
      const earlier = this.results.get(part.id);
      const files = mapOrEmpty(earlier);
      this.results.set(part.id, files.set(place, part.result));
      if (!tookPiece(part)) this.#fail(part);
    }
  }

  /** Runs a function with keyword arguments: a positional text with an equals sign might be taken for one. */
  async #run(target: Target, fun: string, kwargs: Record<string, unknown>): Promise<Part[]> {
    const { signal } = this.#io;
    const job = { ...target, fun, arg: toWireArgs([], map(kwargs)), noLog: this.#noLog };
    const published = await this.#client.publish(job);
    const silent = (id: string, outcome: Outcome): Part => ({
      id,
      well: false,
      retcode: EX_MINIONS,
      outcome,
      result: silenceText(outcome),
    });
    const parts = published.missing.map((id) => silent(id, "no such minion"));
    for await (const one of this.#client.collect(published, timeoutsOf(this.#opts), { signal })) {
      if (one.kind === "silent") parts.push(silent(one.id, one.outcome));
      else {
        const { id, outcome } = one, retcode = plainRetcode(one.retcode);
        parts.push({ id, well: retcode === 0, retcode, outcome, result: one.return });
      }
    }
    return parts;
  }
}

/** Whether a minion has stored a piece at its place. */
function tookPiece({ well, result }: Part): boolean {
  return well && result === true;
}
