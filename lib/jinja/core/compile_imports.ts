/**
 * Makes closures of `include`, `import` and `from … import`.
 * Source: jinja2 3.1, "compiler".
 * @module
 */

import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import type { Obj } from "#lib/python/object.ts";
import type { Exec, Frame, LoadedTemplate, Maybe } from "./frame.ts";
import type { StmtOf } from "#lib/jinja/syntax/nodes.ts";
import { then } from "./results.ts";
import { assignedVariables, type Scope, writeSlot } from "./scope.ts";
import type { TemplateModule } from "./template_module.ts";

/** The closure of `include`. */
export function compileInclude(node: StmtOf<"Include">, scope: Scope): Exec {
  const evaluate = scope.expression(node.template);
  const locals = assignedVariables(scope);
  const at = scope.position(node);
  const include = (template: LoadedTemplate | undefined, frame: Frame): Maybe<undefined> => {
    if (template === undefined) return undefined;
    frame.at = at;
    if (node.withContext) return template.include(frame, locals(frame));
    return then(template.defaultModule(frame), (module) => {
      frame.out.write(module.text, { source: frame.source, at, literal: false });
      return undefined;
    });
  };
  return (frame) =>
    then(evaluate(frame), (name) => {
      frame.at = at;
      return then(findTemplate(name, frame, node.ignoreMissing), (template) => include(template, frame));
    });
}

/** The template, one of several, or `undefined` where it may be missing. */
function findTemplate(name: Obj, frame: Frame, ignoreMissing: boolean): Maybe<LoadedTemplate | undefined> {
  const ignoreMissingTemplate = (error: unknown): undefined => {
    if (ignoreMissing && error instanceof TemplateError && error.kind === "notFound") return undefined;
    throw error;
  };
  try {
    const template = frame.context.environment.getOrSelectTemplate(name);
    return template instanceof Promise ? template.catch(ignoreMissingTemplate) : template;
  } catch (error) {
    return ignoreMissingTemplate(error);
  }
}

/** The module of an imported template. */
function compileModule(
  node: StmtOf<"Import" | "FromImport">,
  scope: Scope,
): (frame: Frame) => Maybe<TemplateModule> {
  const evaluate = scope.expression(node.template);
  const locals = assignedVariables(scope);
  const at = scope.position(node);
  return (frame) =>
    then(evaluate(frame), (name) => {
      frame.at = at;
      return then(frame.context.environment.getTemplate(name), (template) =>
        node.withContext ? template.moduleWith(frame, locals(frame)) : template.defaultModule(frame));
    });
}

/** The closure of `import`. */
export function compileImport(node: StmtOf<"Import">, scope: Scope): Exec {
  const load = compileModule(node, scope);
  const write = writeSlot(scope, scope.slot(node.target));
  const isTop = scope.exports === "template";
  return (frame) =>
    then(load(frame), (module) => {
      write(frame, module);
      if (isTop) {
        frame.context.vars.set(node.target, module);
        frame.context.exported.delete(node.target);
      }
      return undefined;
    });
}

/** The closure of `from … import`. */
export function compileFromImport(node: StmtOf<"FromImport">, scope: Scope): Exec {
  const load = compileModule(node, scope);
  const isTop = scope.exports === "template";
  const names = node.names.map((each) => {
    const [name, alias] = typeof each === "string" ? [each, each] : each;
    return { name, alias, write: writeSlot(scope, scope.slot(alias)) };
  });
  const { line } = node;
  const missing = (module: TemplateModule, name: string, frame: Frame): Obj => {
    const place = frame.source.name === undefined ? `line ${line}` : `line ${line} in '${frame.source.name}'`;
    const hint = `the template '${module.name}' (imported on ${place}) does not export the requested name '${name}'`;
    return frame.context.environment.undefined({ hint, key: name, among: () => [...module.exported.keys()] });
  };
  return (frame) =>
    then(load(frame), (module) => {
      for (const { name, alias, write } of names) {
        const exported = module.exported.get(name);
        const value = exported === undefined ? missing(module, name, frame) : exported;
        write(frame, value);
        if (isTop) {
          frame.context.vars.set(alias, value);
          frame.context.exported.delete(alias);
        }
      }
      return undefined;
    });
}
