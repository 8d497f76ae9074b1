import { assertEquals } from "@std/assert";
import { CommandError, InvocationError, RenderError } from "#lib/errors.ts";
import { renderJinja } from "#lib/jinja/salt/render_jinja.ts";
import type { SaltFunction } from "#lib/plugins/renderer.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import { FILTERS } from "#lib/jinja/salt/language.ts";
import corpus from "#tests/corpus/templates.json" with { type: "json" };
import { renderFixture } from "#tests/support/files/render_scope.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A template, and Salt's result. */
interface Row {
  readonly group: string;
  readonly tpl: string;
  readonly ok?: string;
  readonly err?: string;
  readonly line?: number;
  readonly excerpt?: string;
}

const { files, rows }: { readonly files: Readonly<Record<string, string>>; readonly rows: readonly Row[] } = corpus;

/** Rows whose error has different words here; the kind of error and the line are Salt's. */
const OTHER_WORDS: ReadonlySet<string> = new Set([
  // Our regex parser names the whole expression.
  "{{ 'x'|regex_search('(') }}",
  ...["\\\\g<nope>", "\\\\g", "\\\\9", "\\\\q", "\\\\"].map((text) => `{{ 'aXbX'|regex_replace('X', '${text}') }}`),
  // Modules are loaded on demand, so the function is reported as missing.
  "{{ salt.no.pe() }}",
  // The bytes that are no text are not named.
  "{{ '!!binary /w=='|load_yaml }}",
]);

const functions: Record<string, SaltFunction> = {
  "test.echo": ([value]) => value,
  "test.invocation": () => {
    throw new InvocationError("no luck");
  },
  "test.command": () => {
    throw new CommandError("no luck");
  },
  "test.other": () => {
    throw new Error("no luck");
  },
};

async function render(tpl: string, dir: string): Promise<Partial<Row>> {
  const request = { text: tpl, sls: "web", saltenv: "", context: new Map([["dir", dir]]) };
  try {
    const made = await renderJinja(tpl, TextOrigin.ofFile(tpl), { request, host: renderFixture({ functions }) });
    return { ok: made.text.replaceAll(dir, "{dir}") };
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
    return {
      err: error.message.replaceAll(dir, "{dir}"),
      line: error.detail.place?.line,
      excerpt: error.detail.excerpt,
    };
  }
}

function kindOf(message: string | undefined): string | undefined {
  return /^(?:Jinja variable|[^:]+:)/.exec(message ?? "")?.[0];
}

function check(row: Row, answer: Partial<Row>): void {
  if (row.err === undefined) return assertEquals(answer.ok ?? answer.err, row.ok);
  if (OTHER_WORDS.has(row.tpl)) {
    assertEquals(kindOf(answer.err), kindOf(row.err));
    assertEquals(answer.err?.endsWith(`; line ${row.line}`), true);
    return;
  }
  // An error raised by a template also has its class, which Salt shows in the traceback.
  const raised = row.tpl.includes("raise(") ? `\nTemplateError: ${row.err.replace("Jinja error: ", "")}` : "";
  assertEquals(answer.err ?? answer.ok, `${row.err}${raised}; line ${row.line}`);
  if (row.excerpt !== undefined) assertEquals(answer.excerpt, row.excerpt);
}

const groups = Map.groupBy(rows, ({ group }) => group);
for (const [group, its] of groups) {
  Deno.test(`templates render as in Salt: ${group}`, () =>
    withTemporaryDirectory(async (dir) => {
      for (const [name, text] of Object.entries(files)) {
        Deno.mkdirSync(`${dir}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
        Deno.writeFileSync(`${dir}/${name}`, Uint8Array.from(text, (char) => char.charCodeAt(0)));
      }
      for (const row of its) check(row, await render(row.tpl, dir));
    }));
}

Deno.test("every filter of Salt has rows, except those that need a network", () => {
  const known = new Set([...groups.keys()].map((group) => group.replace(/^filter /, "")));
  const missing = [...FILTERS.keys()].filter((name) => !known.has(name));
  const jinjas = [
    ..."abs attr batch capitalize center count d default dictsort e escape filesizeformat first float forceescape format groupby int"
      .split(" "),
    ..."items join last length list lower map pprint random reject rejectattr replace reverse round safe select selectattr slice"
      .split(" "),
    ..."sort string striptags sum title trim truncate upper urlencode urlize wordcount wordwrap xmlattr".split(" "),
  ];
  assertEquals(missing.filter((name) => !jinjas.includes(name)).sort(), ["dns_check", "http_query"]);
});
