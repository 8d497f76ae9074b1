/**
 * Writes `docs/configuration.md` from the tables of options: `deno run -A scripts/reference/config_reference.ts`.
 * @module
 */

import { COMMON_OPTIONS } from "#lib/config/common_options.ts";
import { type Option, type OptionTable, rangeText } from "#lib/config/option_types.ts";
import { masterOptions, minionOptions } from "#lib/config/options.ts";
import { isMap, repr, type Value } from "#lib/values/value.ts";
import { wrapProse } from "./wrap_prose.ts";

const INTRODUCTION = `# Configuration

*Made from the tables in \`lib/\` by \`deno run -A scripts/reference/config_reference.ts\`; do not edit.*

The master reads \`/etc/salt/master\` and then \`/etc/salt/master.d/*.conf\`, the minion \`/etc/salt/minion\` and
\`/etc/salt/minion.d/*.conf\`: YAML, with Salt's names and defaults. \`-c\` names another directory, and so do the variables
\`SALT_CONFIG_DIR\`, \`SALT_MASTER_CONFIG\` and \`SALT_MINION_CONFIG\`. Files are read in the order of their names. A later one
replaces what an earlier one says; among the files of \`master.d\`, maps are merged and lists joined. The command line wins over all of them.

Everything hangs under \`root_dir\`: a path in a file is put under it, an absolute one too, unless it lies there already. Paths on the
command line are not.

A bad value ends the program with the file, the line and the option. An option that nobody knows is a warning, which suggests the
nearest name, and so is one that is set and not acted upon yet; both are kept, and \`config.get\` finds them. Booleans are YAML 1.1's: \`true\`, \`yes\`, \`on\` and their opposites, without quotes.
Times are seconds unless the option says otherwise. A port of 0 lets the system choose one (not in Salt).
`;

const USERS_OF_A_FILE = `### Users of a file

A line of \`/etc/salt/users\`, which only root may read, is \`NAME:SECRET\`. The secret is the password's digest in hexadecimal digits, as
\`printf %s 'PASSWORD' | sha512sum\` shows it, and without \`^hashtype\` the password itself. Parameters of the file begin with \`^\`, all other
names are users. A digest has no salt: with \`^filetype: htpasswd\` the file is one that \`htpasswd -B\` makes, whose secrets are slow to guess.

\`\`\`yaml
external_auth:
  file:
    ^filename: /etc/salt/users
    ^hashtype: sha512
    amy:
      - 'web*':
          - test.ping
\`\`\`

\`salt -a file --username=amy 'web*' test.ping\` asks for the password.
`;

export function configReference(): string {
  return wrapProse([
    INTRODUCTION,
    section("Both", COMMON_OPTIONS, {}),
    section("Master", masterOptions(), COMMON_OPTIONS),
    USERS_OF_A_FILE,
    section("Minion", minionOptions(), COMMON_OPTIONS),
  ].join("\n"));
}

function section(title: string, table: OptionTable, without: OptionTable): string {
  const rows = Object.entries(table).filter(([name]) => !Object.hasOwn(without, name)).map(([name, option]) =>
    `| \`${name}\` | ${typeText(option)} | ${defaultText(option.default)} | ${escape(option.doc)}${
      option.noEffect === "not built" ? " *Not acted upon yet.*" : ""
    } |`
  );
  return [`## ${title}`, "", "| option | type | default | meaning |", "| --- | --- | --- | --- |", ...rows, ""].join(
    "\n",
  );
}

const TYPES: Readonly<Record<Option["type"], string>> = {
  any: "any",
  str: "string",
  int: "int",
  float: "number",
  bool: "bool",
  path: "path",
  strs: "list of strings",
  list: "list",
  dict: "map",
  choice: "",
};

function typeText(option: Option): string {
  if (option.choices !== undefined) return option.choices.join(", ");
  const range = rangeText(option);
  return range === "" ? TYPES[option.type] : `${TYPES[option.type]}, ${range}`;
}

function defaultText(value: Value): string {
  if (value === null) return "unset";
  if (value === "") return "empty";
  if (Array.isArray(value)) return value.length === 0 ? "empty" : `\`${escape(flow(value))}\``;
  if (isMap(value)) return value.size === 0 ? "empty" : `\`${escape(flow(value))}\``;
  return `\`${escape(flow(value))}\``;
}

/** The value as YAML on one line. */
function flow(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (isMap(value)) return `{${[...value].map(([key, item]) => `${flow(key)}: ${flow(item)}`).join(", ")}}`;
  if (typeof value === "string") return value;
  return repr(value).replace(/^True$/, "true").replace(/^False$/, "false").replace(/\.0$/, "");
}

function escape(text: string): string {
  return text.replaceAll("|", "\\|");
}

if (import.meta.main) {
  const page = new URL("../../docs/configuration.md", import.meta.url);
  Deno.mkdirSync(new URL(".", page), { recursive: true });
  Deno.writeTextFileSync(page, configReference());
}
