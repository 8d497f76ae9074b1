/**
 * Engines in Python of a master: besides what all engines have, they run jobs on minions, runners and wheel functions,
 * with the master's own rights.
 * @module
 */

import type { RunnerHost } from "#lib/client/runner.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { EngineInit } from "#lib/engines/messages.ts";
import type { PythonEngineParts } from "#lib/engines/python_engine_parts.ts";
import { answerRunning, MasterPython } from "#lib/master/functions/python_functions.ts";
import { runPythonEngine } from "#lib/minion/local_call/python_engine.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { PythonQuestionFields } from "#lib/python_bridge/loader/question_fields.ts";
import type { PythonQuestion } from "#lib/python_bridge/link/session.ts";
import { masterRunnerHost } from "./master_runner_host.ts";

/** What only an engine of a master asks. */
const ASKED: ReadonlySet<string> = new Set(["runner", "wheel", "local", "local_async", "minions"]);

/**
 * Runs an engine.
 * @returns Why it has ended; empty if it returned.
 */
export async function runMasterEngine(init: EngineInit, parts: PythonEngineParts): Promise<string> {
  const { master } = parts;
  if (master === undefined) return await runPythonEngine(init, parts);
  await using clients = new EngineClients(master, parts);
  return await runPythonEngine(init, parts, (question) => clients.answer(question));
}

/** The clients of one engine, made when it first uses one. */
class EngineClients implements AsyncDisposable {
  readonly #opts: MasterOpts;
  readonly #parts: PythonEngineParts;
  readonly #python: MasterPython;
  #host: RunnerHost | undefined;

  constructor(opts: MasterOpts, parts: PythonEngineParts) {
    this.#opts = opts;
    this.#parts = parts;
    this.#python = new MasterPython(opts, parts);
  }

  /** The answer to a question; `undefined` if it is another one. */
  async answer({ what, fields }: PythonQuestion): Promise<unknown> {
    const given = new PythonQuestionFields(fields), { log } = this.#parts;
    const isOfRunners = given.value("family") === "runners";
    if (what === "has" && isOfRunners) return await this.#open().catalogue.get(given.text("fun")) !== undefined;
    if (what === "names" && isOfRunners) return (await this.#open().catalogue.all()).map(({ name }) => name);
    if (!ASKED.has(what)) return undefined;
    const host = this.#open();
    const context = { ...host, progress: () => Promise.resolve(), setRetcode: () => {} };
    const families = { runners: host.catalogue, wheel: host.wheel };
    return await answerRunning({ what: what === "runner" ? "call" : what, given, families, log }, context) ?? null;
  }

  #open(): RunnerHost {
    const opts = this.#opts, { log, signal } = this.#parts;
    return this.#host ??= masterRunnerHost(opts, {
      python: this.#python,
      jid: makeJid(),
      user: opts.user,
      log,
      signal,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host?.jobs.close();
    await this.#python[Symbol.asyncDispose]();
  }
}
