/**
 * Syntax trees of templates, compared with those of Python's Jinja: every template that Python Salt installs, those of
 * the corpus, and all templates of the formulas if `SALT_FORMULAS` names a directory of formulas.
 * @module
 */

import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import { FIELDS, type Node } from "#lib/jinja/syntax/nodes.ts";
import { Language } from "#lib/jinja/core/language.ts";
import type { Obj } from "#lib/python/object.ts";
import { reprOf } from "#lib/python/repr.ts";
import { SERIALIZER_TAGS } from "#lib/jinja/salt/serializer_tags.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { testWithPython } from "./salts.ts";

type Tree = string | number | Tree[];

const language = new Language({ filters: new Map(), tests: new Map(), tags: SERIALIZER_TAGS });

function dump(field: unknown): Tree {
  if (Array.isArray(field)) return field.map(dump);
  if (typeof field !== "object" || field === null || !("type" in field)) return reprOf(field as Obj);
  const node = field as Node;
  if (node.type === "HostCall") return ["HostCall"];
  const fields = node as unknown as Record<string, unknown>;
  // Python's Jinja stores no line for the operands of a comparison.
  return [
    node.type,
    node.type === "Operand" ? "None" : node.line,
    ...FIELDS[node.type].map((name) => dump(fields[name])),
  ];
}

function treeOf(text: string): Tree {
  try {
    return dump(language.parse(text));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return ["error", error.frames[0].line, error.message];
  }
}

function templatesBelow(directory: string): string[] {
  const texts: string[] = [];
  for (const { name, isDirectory, isFile } of Deno.readDirSync(directory)) {
    if (isDirectory) texts.push(...templatesBelow(`${directory}/${name}`));
    if (!isFile) continue;
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Deno.readFileSync(`${directory}/${name}`));
    if (/\{[%{#]/.test(text) && !text.includes("\ufffd")) texts.push(text);
  }
  return texts;
}

async function pythonTrees(python: string, texts: readonly string[]): Promise<Tree[]> {
  const script = new URL("jinja_trees.py", import.meta.url).pathname;
  const child = new Deno.Command(python, { args: [script], stdin: "piped", stdout: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  const written = writer.write(new TextEncoder().encode(JSON.stringify(texts))).then(() => writer.close());
  const { stdout, success } = await child.output();
  await written;
  assert(success, "the Python side failed");
  return new TextDecoder().decode(stdout).trimEnd().split("\n").map((line) => JSON.parse(line));
}

await testWithPython(PYTHON_SALTS[2], "templates are read as {}'s Jinja reads them", async (python) => {
  const bin = python.command("salt-call")[0].replace(/salt-call$/, "");
  const corpus: {
    files: Record<string, string>;
    cases: { expression?: string; template?: string; options?: unknown }[];
  } = JSON.parse(Deno.readTextFileSync(new URL("../corpus/jinja_cases.json", import.meta.url)));
  const formulas = Deno.env.get("SALT_FORMULAS");
  const [library] = [...Deno.readDirSync(`${bin}../lib`)].filter(({ name }) => name.startsWith("python3"));
  const texts = [
    ...templatesBelow(`${bin}../lib/${library.name}/site-packages/salt/templates`),
    ...Object.values(corpus.files),
    ...corpus.cases.filter(({ options }) => options === undefined)
      .map(({ expression, template }) => template ?? `{{ ${expression} }}`),
    ...formulas === undefined ? [] : templatesBelow(formulas),
  ];
  const trees = await pythonTrees(`${bin}python3`, texts);
  assertEquals(trees.length, texts.length);
  assert(texts.length > 3_000);
  texts.forEach((text, i) => assertEquals(treeOf(text), trees[i], text));
});
