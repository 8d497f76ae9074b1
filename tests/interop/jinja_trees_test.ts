/**
 * Syntax trees of templates, compared with those of Python's Jinja: every template that Python Salt installs, those of
 * the corpus, and all templates of the formulas if `SALT_FORMULAS` names a directory of formulas. Sets of YAML, also
 * those that a template has changed, are shown as Python Salt shows them.
 * @module
 */

import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import { FIELDS, type Node } from "#lib/jinja/syntax/nodes.ts";
import { Language } from "#lib/jinja/core/language.ts";
import type { Obj } from "#lib/python/object.ts";
import { reprOf } from "#lib/python/repr.ts";
import { SERIALIZER_TAGS } from "#lib/jinja/salt/serializer_tags.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { PYTHON_SALTS } from "./python_salt.ts";
import { OURS, type Salt, testWithPython } from "./salts.ts";

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

// A set of one member: the order of several changes with each start of Python.
const SLS = `
{% load_yaml as loaded %}!!set {m}{% endload %}
{% do loaded.discard('m') %}{% do loaded.add('n') %}
one: !!set {x}
none: !!set {}
list: [!!set {1}, 2]
deep: {in: !!set {y}}
template: {{ loaded }}
again: {{ loaded|yaml }}
omap: !!omap {a: 1}
pairs: !!pairs [{a: 1}]
`;

async function shown(salt: Salt, root: string, out: string): Promise<string> {
  const words = [...salt.command("salt-call"), "-c", `${root}/etc`, "--local", `--out=${out}`, "--no-color"];
  const ran = await run([...words, "slsutil.renderer", "salt://sets.sls"]);
  assertEquals(ran.code, 0, ran.out + ran.err);
  return ran.out;
}

await testWithPython(
  PYTHON_SALTS[2],
  "sets of YAML are shown as {} shows them",
  (python) =>
    withTemporaryDirectory(async (root) => {
      for (const name of ["etc", "files"]) Deno.mkdirSync(`${root}/${name}`);
      Deno.writeTextFileSync(
        `${root}/etc/minion`,
        `id: m1\nroot_dir: ${root}\nfile_client: local\nfile_roots: {base: [${root}/files]}\n`,
      );
      Deno.writeTextFileSync(`${root}/files/sets.sls`, SLS);
      for (const out of ["raw", "txt", "pprint", "json", "yaml", "nested"]) {
        const theirs = await shown(python, root, out);
        assert(theirs.includes("pairs"), theirs);
        assertEquals(await shown(OURS, root, out), theirs, out);
      }
    }),
);
