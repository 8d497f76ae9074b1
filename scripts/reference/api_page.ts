/**
 * The tables of docs/api.md: routes and options, from those that salt-api serves and reads. `deno run -A
 * scripts/reference/api_page.ts` writes them into the page, between their marks.
 * @module
 */

import { API_OPTIONS, apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { apiRoutes } from "#lib/api/server/routes.ts";
import { OIDC_OPTIONS } from "#lib/auth/oidc_settings.ts";
import type { Option, OptionTable } from "#lib/config/option_types.ts";
import { map, repr } from "#lib/values/value.ts";

const PAGE = new URL("../../docs/api.md", import.meta.url);

/** The page `text` with its tables made again. */
export function withTables(text: string): string {
  const tables = { routes: routeRows(), options: optionRows(API_OPTIONS), "oidc options": optionRows(OIDC_OPTIONS) };
  return Object.entries(tables).reduce((page, [name, rows]) => withTable(page, name, rows), text);
}

function withTable(text: string, name: string, rows: readonly string[]): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->\n`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/api.md has no marks of ${name}`);
  return `${text.slice(0, from + begin.length)}\n${rows.join("\n")}\n\n${text.slice(to)}`;
}

function routeRows(): string[] {
  const { settings } = apiSettings(map({ port: 8000, host: "127.0.0.1" }));
  const rows = apiRoutes(settings).flatMap(({ path, target }) =>
    Object.entries(target).map(([method, { summary, needs, rights }]) => {
      const shown = path.replace(/[:*](\w+)/g, (_, name) => name.toUpperCase());
      const all = [needs, rights].filter((one) => one !== undefined).join("; ") || "-";
      return `| ${method} | \`${shown}\` | ${all} | ${summary} |`;
    })
  );
  return ["| method | path | needs | what it does |", "| --- | --- | --- | --- |", ...rows];
}

function optionRows(options: OptionTable): string[] {
  const rows = Object.entries<Option>(options).map(([name, option]) =>
    `| \`${name}\` | \`${repr(option.default)}\` | ${option.doc} |`
  );
  return ["| option | default | meaning |", "| --- | --- | --- |", ...rows];
}

if (import.meta.main) Deno.writeTextFileSync(PAGE, withTables(Deno.readTextFileSync(PAGE)));
