/**
 * `state.template` and `state.template_str`: states of a file of this host, or of a text.
 * Source: Salt 3008.3, `State.render_template` of `salt/state.py`, `salt/modules/state.py`.
 * @module
 */

import { isFile } from "#lib/os/file_kind.ts";
import type { SlsSource } from "#lib/states/compiler/source.ts";
import { walkSls } from "#lib/states/compiler/walk.ts";
import { refuseTexts } from "#lib/states/tree/retcode.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { retcodeOf } from "./outcome.ts";
import { type ApplyCall, CallRefusal, prepare, type Prepared } from "./prepared.ts";
import { runData, runHigh } from "./run_high.ts";

/** Runs the states of a file of this host. */
export async function applyTemplate(tem: string, call: ApplyCall): Promise<Value> {
  const prepared = await prepare(call);
  if (prepared instanceof CallRefusal) return prepared.returned;
  const path = tem.endsWith(".sls") ? tem : `${tem}.sls`;
  if (!isFile(path)) return refuseTexts([`Specified SLS ${path} on local filesystem cannot be found.`], call.context);
  const { states } = prepared;
  const saltenv = states.saltenv ?? "base";
  const source: SlsSource = {
    envs: () => states.source.envs(),
    available: (env) => states.source.available(env),
    render: (sls, env) => sls === path ? states.source.renderFile(path, env) : states.source.render(sls, env),
  };
  const walked = await walkSls(new Map([[saltenv, [path]]]), source);
  if (walked.errors.length > 0) return refuseTexts(states.refusal(walked.errors), call.context);
  return await runHigh(walked, prepared);
}

/** Runs the states of a text. */
export async function applyTemplateText(text: string, call: ApplyCall): Promise<Value> {
  const prepared = await prepare(call);
  if (prepared instanceof CallRefusal) return prepared.returned;
  const high = await prepared.states.source.renderText(text);
  const name = "<template-str>";
  if (!isMap(high)) return refuseTexts([`Template ${name} does not render to a dictionary`], call.context);
  const errors = padTemplate(high, name);
  return errors.length > 0 ? refuseTexts(errors, call.context) : await runPadded(high, prepared);
}

async function runPadded(high: ValueMap, prepared: Prepared): Promise<Value> {
  if (high.size > 0) return await runData(high, prepared);
  prepared.call.context.setRetcode(retcodeOf(high));
  return high;
}

/**
 * Makes high data of what a template rendered to, in place; its IDs belong to no SLS file.
 * @returns What is wrong.
 */
function padTemplate(high: ValueMap, name: string): string[] {
  for (const item of ["include", "exclude", "extends"]) {
    if (high.has(item)) {
      return [`The '${item}' declaration found on '${name}' is invalid when rendering single templates`];
    }
  }
  return [...high].flatMap(([id, body]) => padId(high, id, body, name));
}

function padId(high: ValueMap, id: Value, body: Value, name: string): string[] {
  if (typeof body === "string" && body.includes(".")) {
    const [state, fun] = body.split(".");
    high.set(id, new Map([[state, [fun]]]));
    return [];
  }
  if (!isMap(body)) return [`ID ${str(id)} in template ${name} is not a dictionary`];
  const errors: string[] = [];
  const states = new Set<string>();
  for (const key of [...body.keys()].map(str).sort()) {
    if (key.startsWith("_")) continue;
    const run = body.get(key) ?? null;
    if (run === null) {
      errors.push(
        `ID '${str(id)}' in template ${name} contains a short declaration (${key}) with a trailing colon. When not ` +
          "passing any arguments to a state, the colon must be omitted.",
      );
    } else if (Array.isArray(run)) {
      const [state, fun] = key.split(".");
      if (fun !== undefined && states.has(state)) {
        errors.push(`ID '${str(id)}' in template '${name}' contains multiple state declarations of the same type`);
        continue;
      }
      if (fun !== undefined) {
        body.delete(key);
        run.push(fun);
        body.set(state, run);
      }
      states.add(state);
    }
  }
  return errors;
}
