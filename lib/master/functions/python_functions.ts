/**
 * Runners and wheel modules in Python, for a process that runs functions of a master. Python is started when the first
 * one is needed, and ends with this process's work.
 * @module
 */

import { LocalClient } from "#lib/client/local.ts";
import type { RunnerContext } from "#lib/client/runner_context.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { CommandError, UnavailableError } from "#lib/errors.ts";
import { acceptedFleet, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { invoke } from "#lib/plugins/call.ts";
import { collectDocs } from "#lib/plugins/docs.ts";
import type { Family } from "#lib/plugins/loader.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import type { PythonQuestion } from "#lib/python_bridge/link/session.ts";
import { type FamilyAccess, withPythonFamily } from "#lib/python_bridge/loader/python_family.ts";
import type { PythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import { PythonJob } from "#lib/python_bridge/loader/python_job.ts";
import { PythonQuestionFields } from "#lib/python_bridge/loader/question_fields.ts";
import { answerTexts } from "#lib/python_bridge/loader/text_questions.ts";
import type { PythonZygote } from "#lib/python_bridge/zygote/zygote.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { isMap, map, toValue, type Value } from "#lib/values/value.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { masterPlugins } from "./python_plugins.ts";

/** What a request belongs to: the function that runs; while functions are searched, none. */
interface FunctionScope {
  readonly signal: AbortSignal;
  readonly context?: RunnerContext;
}

/** The plugins in Python of one process of a master. */
export class MasterPython implements AsyncDisposable {
  readonly #opts: MasterOpts;
  readonly #log: Logger;
  readonly #plugins: PythonPlugins;
  readonly #job: PythonJob<FunctionScope>;
  readonly #searching: FunctionScope;
  #families: Partial<Record<PythonFamily, Family<RunnerContext>>> = {};
  #zygote: Promise<PythonZygote> | undefined;

  /** @param printed Called with each line that a plugin prints. */
  constructor(
    opts: MasterOpts,
    { log, signal, printed = log.info }: {
      readonly log: Logger;
      readonly signal: AbortSignal;
      readonly printed?: (line: string) => void;
    },
  ) {
    this.#opts = opts;
    this.#log = log;
    this.#plugins = masterPlugins(opts, log.warning);
    this.#searching = { signal };
    this.#job = new PythonJob<FunctionScope>({
      role: "runner",
      plugins: this.#plugins,
      log,
      socket: async () => {
        const zygote = this.#zygote ??= import("#lib/python_bridge/zygote/zygote.ts").then(({ PythonZygote }) =>
          new PythonZygote(opts, printed)
        );
        return await (await zygote).socket();
      },
      context: () => this.#searching,
      answers: () => (question, { context }) => this.#answer(question, context),
      isHidden: () => false,
    });
  }

  /** The functions of a family with those in Python. */
  family(family: "runners" | "wheel", builtin: Family<RunnerContext>): Family<RunnerContext> {
    const access: FamilyAccess<RunnerContext> = {
      family,
      plugins: this.#plugins,
      find: (which, fun) => this.#job.find(which, fun),
      describe: (which) => this.#job.describe(which),
      call: (call, context) =>
        this.#job.request({ kind: "call", ...call, test: false }, { signal: context.signal, context }),
      setRetcode: (retcode, context) => context.setRetcode(retcode),
    };
    return this.#families[family] = withPythonFamily(builtin, access);
  }

  async #answer({ what, fields }: PythonQuestion, context: RunnerContext | undefined): Promise<unknown> {
    const given = new PythonQuestionFields(fields);
    const texts = answerTexts({ what, fields });
    if (texts !== undefined) return texts.value;
    switch (what) {
      case "opts":
        return optsValues(this.#opts).set("__role", "master");
      case "grains":
      case "pillar":
        return {};
      case "has":
        // A function of an execution module is searched where it runs.
        return given.text("family") === "modules" || await this.#families.runners?.get(given.text("fun")) !== undefined;
      case "names":
        return (await this.#families.runners?.all() ?? []).map(({ name }) => name);
      case "doc":
        return collectDocs(await this.#families.runners?.all() ?? [], [given.text("fun")]).get(given.text("fun")) ??
          null;
    }
    if (context === undefined) throw new CommandError(`a plugin cannot use ${what} while it is loaded`);
    return await answerRunning({ what, given, families: this.#families, log: this.#log }, context);
  }

  /** Ends Python. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#job.end();
    await (await this.#zygote?.catch(() => undefined))?.close();
  }
}

/** A question of a function that runs. */
export interface RunningQuestion {
  readonly what: string;
  readonly given: PythonQuestionFields;
  readonly families: Partial<Record<PythonFamily, Family<RunnerContext>>>;
  readonly log: Logger;
}

/** Answers what only a function that runs may ask. */
export async function answerRunning(
  { what, given, families, log }: RunningQuestion,
  context: RunnerContext,
): Promise<unknown> {
  switch (what) {
    case "call":
      return await callFamily(families.runners, given, context);
    case "wheel":
      return await callFamily(families.wheel ?? context.wheel, given, context);
    case "execute":
      return await context.execute({ fun: given.text("fun"), args: given.list("args"), kwargs: given.map("kwargs") });
    case "local":
      return await runLocal(given, context);
    case "local_async":
      return await startLocal(given, context, log);
    case "minions": {
      const target = { tgt: given.value("tgt"), tgtType: given.text("tgt_type") };
      return resolveTarget(target, acceptedFleet(context.opts, context)).minions;
    }
    case "progress":
      return void await context.progress(progressOf(given.value("data")));
    case "fire":
      return await context.fire(given.text("tag"), progressOf(given.value("data")));
    default:
      throw new CommandError(`the bridge has no answer to ${what}`);
  }
}

function progressOf(data: Value): Map<Value, Value> {
  return isMap(data) ? data : map({ data });
}

async function callFamily(
  family: Family<RunnerContext> | undefined,
  given: PythonQuestionFields,
  context: RunnerContext,
): Promise<Value> {
  const name = given.text("fun");
  const fun = await family?.get(name);
  if (fun === undefined) throw new UnavailableError(name);
  return await invoke(fun, { name, args: given.list("args"), kwargs: given.map("kwargs"), context });
}

/** Runs a function on minions; the answer is Salt's full return of each. */
async function runLocal(given: PythonQuestionFields, { local }: RunnerContext): Promise<Value> {
  const timeoutS = given.number("timeout");
  const returns = await local.run(given.value("tgt"), given.text("fun"), {
    arg: given.list("args"),
    kwargs: given.map("kwargs"),
    tgtType: given.text("tgt_type"),
    ...timeoutS !== undefined && { timeoutS },
  });
  return toValue(new Map([...returns].map(([id, { return: ret, retcode }]) => [id, { ret, retcode }])));
}

/** Publishes a job. */
async function startLocal(given: PythonQuestionFields, context: RunnerContext, log: Logger): Promise<Value> {
  using client = await LocalClient.connect(context.opts, { user: context.opts.user, log });
  const arg = toWireArgs(given.list("args"), given.map("kwargs"));
  const job = await client.publish({
    tgt: given.value("tgt"),
    tgtType: given.text("tgt_type"),
    fun: given.text("fun"),
    arg,
  });
  return job.jid;
}
