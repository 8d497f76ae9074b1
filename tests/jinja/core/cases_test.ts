import { PythonError } from "#lib/errors.ts";
import { framesOf } from "#lib/jinja/core/errors.ts";
import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import { Environment } from "#lib/jinja/core/environment.ts";
import { JINJA_FILTERS } from "#lib/jinja/core/filters.ts";
import { jinjaGlobals } from "#lib/jinja/core/globals.ts";
import { Language } from "#lib/jinja/core/language.ts";
import { JINJA_TESTS } from "#lib/jinja/core/tests.ts";
import type { SyntaxOptions } from "#lib/jinja/syntax/syntax.ts";
import type { Obj } from "#lib/python/object.ts";
import { isMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { parseJson } from "#lib/values/json_read.ts";

/** The output of Python's Jinja for a template: tests/corpus/make_jinja_cases.py. */
interface Case {
  expression?: string;
  template?: string;
  options?: Record<string, string | boolean>;
  text?: string;
  error?: [type: string, message: string];
  line?: number;
}

const source = await Deno.readTextFile(new URL("../../corpus/jinja_cases.json", import.meta.url));
const corpus: { variables: unknown; files: Record<string, string>; cases: Case[] } = JSON.parse(source);

const OPTIONS: Record<string, keyof SyntaxOptions> = {
  trim_blocks: "trimBlocks",
  lstrip_blocks: "lstripBlocks",
  keep_trailing_newline: "keepTrailingNewline",
  newline_sequence: "newlineSequence",
  variable_start_string: "variableStart",
  variable_end_string: "variableEnd",
  block_start_string: "blockStart",
  block_end_string: "blockEnd",
  comment_start_string: "commentStart",
  comment_end_string: "commentEnd",
  line_statement_prefix: "lineStatementPrefix",
  line_comment_prefix: "lineCommentPrefix",
};

const plain = new Language({ filters: JINJA_FILTERS, tests: JINJA_TESTS });

function languageOf(options: Record<string, string | boolean> = {}): Language {
  const named = Object.entries(options).filter(([name]) => name !== "lenient");
  if (named.length === 0) return plain;
  const syntax = Object.fromEntries(named.map(([name, value]) => [OPTIONS[name], value]));
  return new Language({ filters: JINJA_FILTERS, tests: JINJA_TESTS, options: syntax });
}

/** Made anew for each case, since templates change their variables. */
function variables(): Map<string, Obj> {
  const value = parseJson(/^\{"variables": (.*),$/m.exec(source)?.[1] ?? "");
  return new Map(isMap(value) ? Array.from(value, ([name, each]): [string, Obj] => [String(name), each]) : []);
}

function answer({ expression, template, options }: Case): Omit<Case, "options"> {
  const files = new Map(Object.entries(corpus.files));
  const environment = new Environment(languageOf(options), {
    globals: jinjaGlobals(),
    undefined: options?.lenient === true ? "default" : "strict",
    loader: (name) => {
      const text = files.get(name);
      return text === undefined ? undefined : { text };
    },
  });
  try {
    const text = environment.fromString(template ?? `{{ ${expression} }}`).render(variables());
    return { text: text instanceof Promise ? "a promise" : text };
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    const { line, statementLine } = framesOf(error)[0];
    const isSyntax = error instanceof TemplateError && error.kind === "syntax";
    return { error: [error.type, error.message], line: isSyntax ? line : statementLine };
  }
}

for (const kind of ["expression", "template"] as const) {
  Deno.test(`each ${kind} gives the result of Python's Jinja, also for errors`, () => {
    for (const { text, error, line, ...each } of corpus.cases) {
      if (each[kind] === undefined) continue;
      const got = answer(each);
      const wanted = text === undefined ? { error, line: line ?? got.line } : { text };
      assertEquals(got, wanted, JSON.stringify(each));
    }
  });
}
