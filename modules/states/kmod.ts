/**
 * State module `kmod`: modules of the kernel.
 * Source: Salt 3008.3 `salt/states/kmod.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["kmod.available"], otherwise: "kmod module could not be loaded" }],
};

const PARAMS = { name: p.str(), persist: p.bool(false) };

const DOC = `name
    The module, or with \`mods\` a text, unique in the run.

mods
    A list of modules.`;

function namesOf(name: string, mods: Value): string[] {
  return Array.isArray(mods) ? mods.map(str) : [name];
}

async function modules(context: StateContext, fun: string, args: Value[] = []): Promise<string[]> {
  return listOrEmpty(await context.call(fun, args)).map(str);
}

/** The line for one module, or that for several; none without modules. */
function line(names: readonly string[], one: (name: string) => string, many: (names: string) => string): string[] {
  if (names.length === 0) return [];
  return [names.length === 1 ? one(names[0]) : many(names.join(", "))];
}

/** The outcome for each module to load or remove. */
class Outcomes {
  readonly changes: ValueMap = new Map();
  readonly #done: string[] = [];
  readonly #not: string[] = [];
  readonly #failed: [string, Value][] = [];

  /** @param word The verb for the modules that a call changed. */
  constructor(readonly word: "loaded" | "removed") {}

  /** Records the result of a call for `mod`: the modules that it changed, or its error. */
  note(mod: string, answer: Value): void {
    if (!Array.isArray(answer)) this.#failed.push([mod, answer]);
    else if (answer.length === 0) this.#not.push(mod);
    else {
      for (const one of answer) this.changes.set(one, this.word);
      this.#done.push(mod);
    }
  }

  /** Whether this module was loaded as a dependency of another. */
  has(mod: string): boolean {
    return this.changes.has(mod);
  }

  /** Records a module that was loaded as a dependency. */
  already(mod: string): void {
    this.#done.push(mod);
  }

  get ok(): boolean {
    return this.#not.length === 0 && this.#failed.length === 0;
  }

  lines(): string[] {
    const [Did, did] = this.word === "loaded" ? ["Loaded", "load"] : ["Removed", "remove"];
    return [
      ...line(this.#done, (one) => `${Did} kernel module ${one}`, (all) => `${Did} kernel modules ${all}`),
      ...line(
        this.#not,
        (one) => `Failed to ${did} kernel module ${one}`,
        (all) => `Failed to ${did} kernel modules ${all}`,
      ),
      ...this.#failed.map(([mod, why]) => `Failed to ${did} kernel module ${mod}: ${str(why)}`),
    ];
  }
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Kernel modules are loaded.

${DOC}

persist : False
    Whether they are also loaded at each boot.`,
  params: { ...PARAMS, mods: p.any(null) },
  run: async ({ name, persist, mods }, context) => {
    const names = namesOf(name, mods);
    let loaded = await modules(context, "kmod.mod_list");
    if (persist) {
      const persistent = new Set(await modules(context, "kmod.mod_list", [true]));
      loaded = loaded.filter((one) => persistent.has(one));
    }
    const wanted = [...new Set(names)];
    const there = wanted.filter((one) => loaded.includes(one));
    const comments = line(
      there,
      (one) => `Kernel module ${one} is already present`,
      (all) => `Kernel modules ${all} are already present`,
    );
    const missing = wanted.filter((one) => !loaded.includes(one));
    if (missing.length === 0) return { ...startResult(name), comment: comments.join("\n") };
    if (context.test) {
      comments.push(...line(
        missing,
        (one) => `Kernel module ${one} is set to be loaded`,
        (all) => `Kernel modules ${all} are set to be loaded`,
      ));
      return { ...startResult(name, null), comment: comments.join("\n") };
    }
    const available = new Set(await modules(context, "kmod.available"));
    const unavailable = missing.filter((one) => !available.has(one));
    comments.push(...line(
      unavailable,
      (one) => `Kernel module ${one} is unavailable`,
      (all) => `Kernel modules ${all} are unavailable`,
    ));
    const outcomes = new Outcomes("loaded");
    for (const mod of missing.filter((one) => available.has(one))) {
      if (outcomes.has(mod)) outcomes.already(mod);
      else outcomes.note(mod, await context.call("kmod.load", [mod, persist]));
    }
    comments.push(...outcomes.lines());
    return result(name, outcomes, comments, unavailable.length === 0);
  },
});

function result(name: string, outcomes: Outcomes, comments: readonly string[], ok = true): StateResult {
  return { name, result: ok && outcomes.ok, comment: comments.join("\n"), changes: outcomes.changes };
}

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Kernel modules are not loaded.

${DOC}

persist : False
    Whether they are also not loaded at boot.

comment : True
    Whether \`persist\` comments the line out instead of removing it.`,
  params: { ...PARAMS, comment: p.bool(true), mods: p.any(null) },
  run: async ({ name, persist, comment, mods }, context) => {
    const names = namesOf(name, mods);
    const loaded = new Set(await modules(context, "kmod.mod_list"));
    if (persist) { for (const one of await modules(context, "kmod.mod_list", [true])) loaded.add(one); }
    const there = [...new Set(names)].filter((one) => loaded.has(one));
    if (there.length === 0) {
      const gone = line(
        names,
        (one) => `Kernel module ${one} is already removed`,
        (all) => `Kernel modules ${all} are already removed`,
      );
      return { ...startResult(name), comment: gone.join("\n") };
    }
    if (context.test) {
      const would = line(
        there,
        (one) => `Kernel module ${one} is set to be removed`,
        (all) => `Kernel modules ${all} are set to be removed`,
      );
      return { ...startResult(name, null), comment: would.join("\n") };
    }
    const outcomes = new Outcomes("removed");
    for (const mod of there) outcomes.note(mod, await context.call("kmod.remove", [mod, persist, comment]));
    return result(name, outcomes, outcomes.lines());
  },
});
