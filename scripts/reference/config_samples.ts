/**
 * Writes `docs/samples/master` and `docs/samples/minion` from the tables of options: `deno run -A
 * scripts/reference/config_samples.ts`. In these files every option is commented out, with its default.
 * @module
 */

import { wrap } from "#lib/commands/cli/help.ts";
import { COMMON_OPTIONS } from "#lib/config/common_options.ts";
import { type Option, rangeText } from "#lib/config/option_types.ts";
import { OPTION_TABLES, type Role } from "#lib/config/options.ts";
import { mapOf } from "#lib/values/dict.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";

/** The roles, each of which has a file. */
export const ROLES: readonly Role[] = ["master", "minion"];

const WIDTH = 100;

const INTRODUCTIONS: Readonly<Record<Role, string>> = {
  master: "A sample of /etc/salt/master, the configuration of salt-master and of the commands on its host.",
  minion: "A sample of /etc/salt/minion, the configuration of salt-minion and salt-call.",
};

/** The sample for `role`. Unedited it sets no option. */
export function configSample(role: Role): string {
  const own = Object.entries<Option>(OPTION_TABLES[role]);
  const shared = own.filter(([name]) => Object.hasOwn(COMMON_OPTIONS, name));
  const acting = ([, option]: [string, Option]) => option.noEffect === undefined;
  const idle = own.filter((entry) => !acting(entry));
  return [
    comment(
      `${
        INTRODUCTIONS[role]
      } Every option stands here as a comment with its default: take the # away in front of what you change. ` +
        `More options may be in ${role}.d/*.conf.`,
    ),
    comment("Made from the option tables by scripts/reference/config_samples.ts."),
    section(`Options of the ${role}`, own.filter(acting).filter((entry) => !shared.includes(entry))),
    section("Options of master and minion", shared.filter(acting)),
    section("Options of Salt that have no effect here, or not yet", idle),
  ].join("\n");
}

function section(title: string, options: readonly [string, Option][]): string {
  const rule = "#".repeat(WIDTH);
  return [rule, `#     ${title}`, rule, "", ...options.map(([name, option]) => sampleOf(name, option))].join("\n");
}

function sampleOf(name: string, option: Option): string {
  const range = option.choices?.join(", ") ?? rangeText(option);
  const idle = option.noEffect === "not built" ? " Not acted upon yet." : "";
  const values = range === "" ? "" : ` Values: ${range}.`;
  const written = dumpYaml(mapOf([[name, option.default]])).trimEnd().replace(/: null$/, ":");
  // A long text would be folded at a blank; here it must be in one line.
  const yaml = typeof option.default === "string" ? written.replace(/\n +/g, " ") : written;
  return `${comment(`${option.doc}${values}${idle}`)}${yaml.replace(/^/gm, "#")}\n`;
}

function comment(text: string): string {
  return wrap(text, WIDTH - 2).map((line) => `# ${line}\n`).join("");
}

if (import.meta.main) {
  const directory = new URL("../../docs/samples/", import.meta.url);
  Deno.mkdirSync(directory, { recursive: true });
  for (const role of ROLES) Deno.writeTextFileSync(new URL(role, directory), configSample(role));
}
