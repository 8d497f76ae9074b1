/**
 * `{% autoescape %}`: printed values in it are escaped for HTML, unless they are marked as safe. If its value is known
 * when the template is compiled, it is decided then; otherwise when the template runs. Source: jinja2 3.1, "compiler"
 * (visit_ScopedEvalContextModifier, visit_Concat, return_buffer_contents), "Autoescape Overrides".
 * @module
 */

import { isTruthy } from "#lib/python/kinds.ts";
import { Markup } from "#lib/python/markup.ts";
import { escapeHtml } from "#lib/text/html.ts";
import type { Obj, Result } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";
import type { Expr, StmtOf } from "#lib/jinja/syntax/nodes.ts";
import type { Exec, Frame } from "./frame.ts";
import { then } from "./results.ts";
import type { Scope } from "./scope.ts";
import { TemplateModule } from "./template_module.ts";

/** The result of `escape`: a marked value is not changed. */
export function escapeValue(value: Obj): Markup {
  if (value instanceof Markup) return value;
  return new Markup(value instanceof TemplateModule ? value.text : escapeHtml(strOf(value)));
}

/** Whether escaping does not change it, because it has its own HTML form. */
export function isSafe(value: Obj): boolean {
  return value instanceof Markup || value instanceof TemplateModule;
}

/** Whether a scope escapes where `frame` runs. */
function escapes({ autoescape }: Scope, frame: Frame): boolean {
  return autoescape === "volatile" ? frame.autoescape : autoescape;
}

/** The function that converts printed values to text in a scope. */
export function printer(scope: Scope): (value: Obj, frame: Frame) => string {
  if (scope.autoescape === false) return strOf;
  return (value, frame) => escapes(scope, frame) ? escapeValue(value).text : strOf(value);
}

/** The function that converts text written in a scope to a value: for macros and blocks with filters. */
export function captor(scope: Scope): (text: string, frame: Frame) => Obj {
  if (scope.autoescape === false) return (text) => text;
  return (text, frame) => escapes(scope, frame) ? new Markup(text) : text;
}

/** The result of `~`. Jinja does this only if it is known at compile time that texts are escaped. */
export function joiner({ autoescape }: Scope): (items: readonly Obj[]) => Obj {
  if (autoescape !== true) return (items) => items.map(strOf).join("");
  return (items) =>
    items.some(isSafe) ? new Markup(items.map((item) => escapeValue(item).text).join("")) : items.map(strOf).join("");
}

/** The closure of `{% autoescape %}`. */
export function compileAutoescape(node: StmtOf<"ScopedEvalContextModifier">, scope: Scope): Exec {
  const [{ value }] = node.options;
  const evaluate = scope.expression(value);
  const escapes = constant(value);
  const body = scope.escaping(escapes === undefined ? "volatile" : isTruthy(escapes)).body(node.body);
  const run = (wanted: Obj, frame: Frame): ReturnType<Exec> => {
    const { escaping } = frame.context;
    const before = escaping.on;
    escaping.on = isTruthy(wanted);
    return then(body(frame), (flow) => {
      escaping.on = before;
      return flow;
    });
  };
  return (frame) => {
    const wanted: Result = evaluate(frame);
    return wanted instanceof Promise ? wanted.then((later) => run(later, frame)) : run(wanted, frame);
  };
}

/** The value of an expression that is one literal. */
function constant(node: Expr): Obj | undefined {
  return node.type === "Const" ? node.value : undefined;
}
