/**
 * Shell completion for bash, zsh and fish, made from the option tables and from the declarations of modules and
 * runners. The files completion.bash, completion.zsh and completion.fish contain the parts that do not depend on these
 * tables.
 *
 * A completion must answer while a person types, and Deno alone takes 40 ms to start. So the scripts contain the
 * tables, and read ids and jobs directly from the master's directories.
 * @module
 */

import { type CliOption, STANDARD_OPTIONS } from "#lib/commands/cli/command_line.ts";
import { type AnyCommand, COMMANDS, helpOf } from "./commands.ts";
import { EXECUTION_MODULES } from "#modules/execution/_built_in.ts";
import { ALIASES } from "#lib/plugins/aliases.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { OUTPUTTER_NAMES } from "#lib/output/outputter_names.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";

/** The kind of values of an argument. Several directories of keys, or several words, are separated by blanks. */
type Kind = "" | "files" | "directories" | "jids" | `ids:${string}` | `words:${string}` | `functions:${string}`;

const ALL_KEYS = "ids:minions minions_pre minions_rejected minions_denied";
const BOOLEAN_WORDS = "words:True False";

/** The kinds of the values of options, by the option's name. Other options have no completion. */
export const OPTION_VALUES: Readonly<Record<string, Kind>> = {
  accept: "ids:minions_pre",
  cachedir: "directories",
  config_dir: "directories",
  delete: ALL_KEYS,
  file_root: "directories",
  finger: ALL_KEYS,
  gen_keys_dir: "directories",
  jid: "jids",
  keysize: "words:2048 3072 4096",
  list: "words:pre un unaccepted acc accepted rej rejected den denied all",
  log_file: "files",
  module_dirs: "directories",
  output: `words:${OUTPUTTER_NAMES.join(" ")}`,
  output_file: "files",
  pidfile: "files",
  pillar_root: "directories",
  preserve_minions: BOOLEAN_WORDS,
  print: ALL_KEYS,
  priv: "files",
  profiling_path: "directories",
  pub: "files",
  reject: "ids:minions_pre minions",
  rotate_aes_key: BOOLEAN_WORDS,
  saltfile: "files",
  signature_path: "directories",
  state_output: "words:full terse mixed changes filter full_id terse_id mixed_id changes_id filter_id",
  state_verbose: BOOLEAN_WORDS,
  states_dir: "directories",
};

/**
 * A position among the arguments that are not options: the kind of its values, and for parameters the position of their
 * function.
 */
type Positional = Kind | { readonly family: string; readonly fun: number };

/** The kinds of the arguments, by command; the last one applies to all further arguments. */
const POSITIONALS: Readonly<Record<string, readonly Positional[]>> = {
  "salt": ["ids:minions", "functions:execution", { family: "execution", fun: 2 }],
  "salt-run": ["functions:runner", { family: "runner", fun: 1 }],
  "salt-call": ["functions:execution", { family: "execution", fun: 1 }],
  "salt-cp": ["ids:minions", "files"],
  "salt-ssh": ["ids:minions", "functions:execution", { family: "execution", fun: 2 }],
};

/** A function, with the data that the shells need. */
interface Described {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly string[];
}

const FAMILIES = { execution: [EXECUTION_MODULES, ALIASES.execution], runner: [RUNNERS, {}] } as const;

/** The shells, each with the file below `share` that it reads. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** The completion for `shell`. */
export async function completionScript(shell: typeof SHELLS[number]): Promise<string> {
  const families = await Promise.all(
    Object.entries(FAMILIES).map(async ([name, [table, aliases]]) =>
      [name, (await loadFamily(table, { aliases }).all()).map(describeFunction)] as const
    ),
  );
  const tables = { bash: bashTables, zsh: zshTables, fish: fishTables }[shell](new Map(families));
  const template = Deno.readTextFileSync(new URL(`completion.${shell}`, import.meta.url));
  const quote = shell === "fish" ? "\\'" : "'\\''";
  const inQuotes = (text: string) => () => text.replaceAll("'", quote);
  return template.replace("# @TABLES@", () => tables).replaceAll("@SED@", inQuotes(SED))
    .replaceAll("@ROOTS@", inQuotes(ROOTS)).replaceAll("@EXPORTS@", inQuotes(EXPORTS));
}

/** Prints the name and the value of the options for directories, without quotes and comments. */
const SED =
  `s/^(root_dir|pki_dir|cachedir|extension_modules)[[:blank:]]*:[[:blank:]]*["']?([^"'#]*[^"'#[:blank:]\\/])\\/?["']?([[:blank:]].*)?$/\\1 \\2/p`;

/** Prints `_modules` below each directory of `file_roots`. */
const ROOTS =
  `/^file_roots:/,/^[^[:blank:]#]/s/^[[:blank:]]+-[[:blank:]]+["']?(\\/[^"'#]*[^"'#[:blank:]\\/])\\/?["']?([[:blank:]].*)?$/\\1\\/_modules/p`;

/** The beginning of an export statement, or of a function in Python, up to its name. */
const EXPORTS = "^(export (async )?(function\\*?|const)|def) [A-Za-z_][A-Za-z0-9_]*";

type Families = ReadonlyMap<string, readonly Described[]>;

function describeFunction(
  { name, fun }: { name: string; fun: { readonly doc: string; readonly params: Readonly<Record<string, unknown>> } },
): Described {
  const [paragraph] = fun.doc.trim().split(/\n\s*\n/);
  const [summary] = paragraph.replace(/\s+/g, " ").split(/(?<=[.:]) /);
  return { name, summary: summary.replace(/[.:]$/, ""), parameters: Object.keys(fun.params) };
}

function optionsOf(command: AnyCommand): [name: string, option: CliOption][] {
  return Object.entries<CliOption>({ ...STANDARD_OPTIONS, ...command.options });
}

function kindOf(name: string, option: CliOption): Kind {
  if (option.choices !== undefined) return `words:${option.choices.join(" ")}`;
  return OPTION_VALUES[name] ?? "";
}

function identifier(name: string): string {
  return name.replaceAll("-", "_");
}

/** A text in single quotes, for bash and zsh. */
function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A shell function that sets $REPLY according to its first argument. */
function cases(name: string, arms: readonly (readonly [pattern: string, reply: string])[]): string {
  const lines = arms.map(([pattern, reply]) => `    ${pattern}) REPLY=${quoteWord(reply)} ;;`);
  return [`${name}() {`, "  case $1 in", ...lines, "    *) REPLY= ;;", "  esac", "}"].join("\n");
}

function parameterCases(family: string, functions: readonly Described[]): string {
  const arms = functions.filter(({ parameters }) => parameters.length > 0)
    .map(({ name, parameters }) => [name, parameters.join(" ")] as const);
  return cases(`_salt_${family}_parameters`, arms);
}

function bashTables(families: Families): string {
  const options = COMMANDS.map((command) =>
    [identifier(command.prog), optionsOf(command).flatMap(([, { flags }]) => flags).join(" ")] as const
  );
  const valued = COMMANDS.flatMap((command) =>
    optionsOf(command).filter(([, { kind }]) => kind !== "flag").map(([name, option]) => {
      const patterns = option.flags.map((flag) => `"${identifier(command.prog)} ${flag}"`).join(" | ");
      return `    ${patterns}) REPLY=${quoteWord(kindOf(name, option))} ;;`;
    })
  );
  const positional = Object.entries(POSITIONALS).flatMap(([prog, places]) =>
    places.map((place, i) => {
      const pattern = `"${identifier(prog)} "${i === places.length - 1 ? "*" : i}`;
      const reply = typeof place === "string" ? place : `parameters:${place.family}:${place.fun}`;
      return `    ${pattern}) REPLY=${quoteWord(reply)} ;;`;
    })
  );
  return [
    cases("_salt_options", options),
    "# Sets $REPLY to what the value of the option $2 of $1 is; fails if it takes none.",
    ["_salt_option_values() {", '  case "$1 $2" in', ...valued, "    *) return 1 ;;", "  esac", "}"].join("\n"),
    ["_salt_positional() {", '  case "$1 $2" in', ...positional, "    *) REPLY= ;;", "  esac", "}"].join("\n"),
    ...[...families].flatMap(([family, functions]) => {
      const modules = Map.groupBy(functions, ({ name }) => name.split(".")[0]);
      const names = (own: readonly Described[]) => own.map(({ name }) => name.split(".")[1]).join(" ");
      return [
        `_salt_${family}_modules() {\n  REPLY=${quoteWord([...modules.keys()].join(" "))}\n}`,
        cases(`_salt_${family}_functions`, [...modules].map(([module, own]) => [module, names(own)] as const)),
        parameterCases(family, functions),
      ];
    }),
  ].join("\n\n");
}

function zshTables(families: Families): string {
  return [
    ...COMMANDS.map((command) => {
      const specs = [
        ...optionsOf(command).flatMap(([name, option]) => zshOption(name, option)),
        ...zshPositionals(command.prog),
      ];
      return [
        `_salt_specs_${identifier(command.prog)}() {`,
        "  specs=(",
        ...specs.map((spec) => `    ${quoteWord(spec)}`),
        "  )",
        "}",
      ]
        .join("\n");
    }),
    ...[...families].flatMap(([family, functions]) => [
      [
        `_salt_${family}_described() {`,
        "  described=(",
        ...functions.map(({ name, summary }) => `    ${quoteWord(`${name}:${summary}`)}`),
        "  )",
        "}",
      ].join("\n"),
      parameterCases(family, functions),
    ]),
  ].join("\n\n");
}

function zshOption(name: string, option: CliOption): string[] {
  const help = helpOf(option).replace(/[[\]:\\]/g, "\\$&");
  const times = option.kind === "append" ? "*" : `(${option.flags.join(" ")})`;
  return option.flags.map((flag) => {
    if (option.kind === "flag") return `${times}${flag}[${help}]`;
    return `${times}${flag}${flag.startsWith("--") ? "=" : "+"}[${help}]:${name.replaceAll("_", " ")}:${
      zshAction(kindOf(name, option))
    }`;
  });
}

function zshAction(kind: Kind): string {
  const [word, rest] = [kind.split(":")[0], kind.slice(kind.indexOf(":") + 1)];
  switch (word) {
    case "files":
      return "_files";
    case "directories":
      return "_files -/";
    case "jids":
      return " _salt_jids";
    case "ids":
      return ` _salt_ids ${rest}`;
    case "words":
      return `(${rest})`;
    case "functions":
      return ` _salt_functions ${rest}`;
    default:
      return " ";
  }
}

function zshPositionals(prog: string): string[] {
  const places = POSITIONALS[prog] ?? [];
  return places.map((place, i) => {
    const number = i === places.length - 1 ? "*" : String(i + 1);
    const action = typeof place === "string" ? zshAction(place) : ` _salt_arguments ${place.family} ${place.fun}`;
    const label = typeof place !== "string" ? "argument" : place.startsWith("ids") ? "target" : place.split(":")[0];
    return `${number}:${label}:${action}`;
  });
}

function fishTables(families: Families): string {
  const valued = COMMANDS.map((command) => {
    const flags = optionsOf(command).filter(([, { kind }]) => kind !== "flag").flatMap(([, option]) => option.flags);
    return [command.prog, flags.join(" ")] as const;
  });
  return [
    fishSwitch("__salt_valued", valued.map(([prog, flags]) => [prog, `printf '%s\\n' ${flags}`] as const)),
    ...[...families].flatMap(([family, functions]) => [
      [
        `function __salt_${family}_functions`,
        "    printf '%s\\t%s\\n' \\",
        functions.map(({ name, summary }) => `        ${name} ${fishQuoted(summary)}`).join(" \\\n"),
        "end",
      ].join("\n"),
      fishSwitch(
        `__salt_${family}_parameters`,
        functions.filter(({ parameters }) => parameters.length > 0)
          .map(({ name, parameters }) => [name, `echo ${parameters.join(" ")}`] as const),
      ),
    ]),
    ...COMMANDS.map((command) =>
      [
        `complete -c ${command.prog} -f`,
        ...optionsOf(command).map(([name, option]) => fishOption(command.prog, name, option)),
        ...fishPositionals(command.prog),
      ].join("\n")
    ),
  ].join("\n\n");
}

function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

function fishSwitch(name: string, arms: readonly (readonly [word: string, command: string])[]): string {
  const lines = arms.flatMap(([word, command]) => [`        case ${word}`, `            ${command}`]);
  return [`function ${name}`, "    switch $argv[1]", ...lines, "    end", "end"].join("\n");
}

function fishOption(prog: string, name: string, option: CliOption): string {
  const flags = option.flags.map((flag) => flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`);
  const takes = option.kind === "flag" ? [] : [fishValues(kindOf(name, option))];
  return ["complete", "-c", prog, ...flags, ...takes, "-d", fishQuoted(helpOf(option))].join(" ");
}

function fishValues(kind: Kind): string {
  const [word, rest] = [kind.split(":")[0], kind.slice(kind.indexOf(":") + 1)];
  switch (word) {
    case "files":
      return "-r -F";
    case "directories":
      return "-x -a '(__fish_complete_directories)'";
    case "jids":
      return "-x -k -a '(__salt_jids)'";
    case "ids":
      return `-x -a '(__salt_ids ${rest})'`;
    case "words":
      return `-x -a '${rest}'`;
    case "functions":
      return `-x -a '(__salt_functions ${rest})'`;
    default:
      return "-x";
  }
}

function fishPositionals(prog: string): string[] {
  const places = POSITIONALS[prog] ?? [];
  return places.map((place, i) => {
    const condition = `-n '__salt_position ${i === places.length - 1 ? "-ge" : "="} ${i}'`;
    const values = typeof place === "string"
      ? fishValues(place).replace(/^-x /, "").replace("-r -F", "-F")
      : `-a '(__salt_parameters ${place.family} ${place.fun})'`;
    return `complete -c ${prog} ${condition} ${values}`;
  });
}
