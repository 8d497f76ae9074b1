/**
 * Sources of pillar and of `master_tops` in Python. Those of one request share a process, which has the options of the
 * master and the grains of the minion whose pillar it is.
 * @module
 */

import { CommandError, UnavailableError } from "#lib/errors.ts";
import { moduleOfFunction } from "#lib/plugins/docs.ts";
import type { Functions } from "#lib/plugins/loader.ts";
import type { Catalogue } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { PillarContext } from "#lib/plugins/pillar_source.ts";
import type { TopContext } from "#lib/plugins/top_source.ts";
import { MissingPlugin, type PythonQuestion } from "#lib/python_bridge/link/session.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { ANY_ARGUMENTS } from "./any_arguments.ts";
import type { PythonPlugins } from "./python_files.ts";
import { PythonQuestionFields } from "./question_fields.ts";
import { PythonJob } from "./python_job.ts";
import type { PythonLease } from "./separate_calls.ts";
import { answerTexts } from "./text_questions.ts";

/** The plugins in Python of a host that compiles pillar. */
export interface PillarPython {
  readonly plugins: PythonPlugins;
  readonly lease: PythonLease;
  readonly log: Logger;
}

/** What both kinds of sources know. */
type SourceContext = PillarContext | TopContext;

/** The sources of pillar of `builtin`, and those in Python. */
export function withPythonPillars<F extends Pick<Functions<PillarContext>, "get">>(
  builtin: F,
  python: PillarPython,
  catalogue: Catalogue,
): F {
  const argsOf = (context: PillarContext, args: readonly Value[]) => [context.minionId, context.pillar, ...args];
  const given = (answer: Value, context: PillarContext): Value => {
    const [returned = null, changed = null] = Array.isArray(answer) ? answer : [];
    if (isMap(changed)) context.replacePillar(changed);
    return returned;
  };
  return withSources(builtin, { family: "pillar", argsOf, kwargsOf: (kwargs) => kwargs, given }, python, catalogue);
}

/** The sources of `master_tops` of `builtin`, and those in Python. */
export function withPythonTops<F extends Pick<Functions<TopContext>, "get">>(
  builtin: F,
  python: PillarPython,
  catalogue: Catalogue,
): F {
  const kwargsOf = (_given: ValueMap, { minionOpts, grains }: TopContext): ValueMap =>
    new Map<Value, Value>([["opts", minionOpts], ["grains", grains]]);
  const kind: SourceKind<TopContext> = { family: "tops", argsOf: () => [], kwargsOf, given: (answer) => answer };
  return withSources(builtin, kind, python, catalogue);
}

/** The options of both families, for the log. */
const KIND_NAMES = { pillar: "ext_pillar", tops: "master_tops" } as const;

interface SourceKind<C> {
  readonly family: keyof typeof KIND_NAMES;
  argsOf(context: C, args: readonly Value[]): Value[];
  kwargsOf(kwargs: ValueMap, context: C): ValueMap;
  /** What a source gives, of its answer. */
  given(answer: Value, context: C): Value;
}

function withSources<C extends SourceContext, F extends Pick<Functions<C>, "get">>(
  builtin: F,
  kind: SourceKind<C>,
  { plugins, lease, log }: PillarPython,
  catalogue: Catalogue,
): F {
  const files = plugins.files[kind.family] ?? {};
  const names = new Set(plugins.names[kind.family] ?? []);
  if (Object.keys(files).length === 0) return builtin;
  const jobs = new WeakMap<AsyncDisposableStack, PythonJob<C>>();
  const open = (context: C): PythonJob<C> => {
    const { socket, close } = lease.lend();
    const job = new PythonJob<C>({
      role: "master",
      plugins,
      log,
      socket,
      context: () => context,
      answers: () => (question, asking) => answerSource(question, asking, catalogue),
      isHidden: () => false,
    });
    context.untilEnd.defer(close);
    context.untilEnd.defer(() => job.end());
    return job;
  };
  return {
    ...builtin,
    async get(name: string): Promise<ModuleFunction<C> | undefined> {
      const module = moduleOfFunction(name);
      if (!names.has(module)) return await builtin.get(name);
      return sourceOf<C>(async (context, args, kwargs) => {
        if ("notes" in context) context.notes.changing(`the source ${module}, in Python`);
        const call = { kind: "call", family: kind.family, fun: name, test: false } as const;
        try {
          const given = { args: kind.argsOf(context, args), kwargs: kind.kwargsOf(kwargs, context) };
          const job = jobs.getOrInsertComputed(context.untilEnd, () => open(context));
          return kind.given((await job.request({ ...call, ...given }, context)).value, context);
        } catch (error) {
          if (!(error instanceof MissingPlugin)) throw error;
          const reason = error.reason === null || error.reason === "" ? "" : `: ${error.reason}`;
          // As in Salt, a source that is not for this host gives nothing, and pillar is without an error.
          context.log("error", `Specified ${KIND_NAMES[kind.family]} interface ${module} is unavailable${reason}`);
          return new Map();
        }
      });
    },
  };
}

function sourceOf<C>(
  run: (context: C, args: readonly Value[], kwargs: ValueMap) => Promise<Value>,
): ModuleFunction<C> {
  return { ...ANY_ARGUMENTS, run: (_bound, context, { args, kwargs }) => run(context, args, kwargs) };
}

async function answerSource(
  { what, fields }: PythonQuestion,
  context: SourceContext,
  catalogue: Catalogue,
): Promise<unknown> {
  const given = new PythonQuestionFields(fields);
  switch (what) {
    case "opts":
      return context.opts;
    case "grains":
      // As in Salt, a master's sources of `master_tops` get the minion's as an argument only.
      return "pillar" in context ? context.grains : context.opts.get("grains") ?? {};
    case "pillar":
      return "pillar" in context ? context.pillar : {};
    case "has":
      return await catalogue.get(given.text("fun")) !== undefined;
    case "names":
      return (await catalogue.all()).map(({ name }) => name);
    case "call": {
      if (!("call" in context)) throw new UnavailableError(given.text("fun"));
      return await context.call(given.text("fun"), given.list("args"), given.map("kwargs"));
    }
    default: {
      const answer = answerTexts({ what, fields });
      if (answer === undefined) throw new CommandError(`the bridge has no answer to ${what}`);
      return answer.value;
    }
  }
}
