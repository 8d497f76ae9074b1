/**
 * Repository files, which are ini files, of yum, dnf and zypper: `/etc/yum.repos.d/x.repo`.
 * Source: Salt 3008.3, `salt/modules/yumpkg.py`; yum.conf(5); Python's configparser.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { asList, listUnder } from "#lib/values/shape.ts";
import { repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The text before the first repository, and the options of each repository by its name. */
export interface RepoFile {
  readonly header: string;
  /** Options in lower case; `comments` is the list of the repository's comments. */
  readonly repositories: Map<string, ValueMap>;
  /** The text of the first line in Python's notation, if it is outside of a repository: then nothing was read. */
  readonly refused?: string;
}

/**
 * @param options.strict Whether a name that comes twice is an error.
 * @throws {CommandError} For that, and for lines that are no options.
 */
export function parseRepoFile(
  text: string,
  { path, strict }: { readonly path: string; readonly strict: boolean },
): RepoFile {
  const repositories = new Map<string, ValueMap>();
  let header = "";
  let [section, option]: [ValueMap | undefined, string | undefined] = [undefined, undefined];
  let wrong = "";
  let where = "";
  for (const [i, line] of text.split("\n").entries()) {
    const place = `[line ${String(i + 1).padStart(2)}]`;
    const trimmed = line.trim();
    const [, name] = /^\[(.+)\]/.exec(trimmed) ?? [];
    if (trimmed.startsWith("#")) {
      if (section === undefined) header += `${trimmed}\n`;
      else listUnder(section, "comments").push(trimmed.slice(1).trimStart());
    } else if (trimmed === "" || trimmed.startsWith(";")) continue;
    else if (/^\s/.test(line) && section !== undefined && option !== undefined) {
      section.set(option, `${str(section.get(option) ?? "")}\n${trimmed}`);
    } else if (name !== undefined) {
      if (strict && repositories.has(name)) {
        throw new CommandError(`While reading from '${path}' ${place}: section '${name}' already exists`);
      }
      section = repositories.get(name) ?? new Map();
      repositories.set(name, section);
      option = undefined;
      where = name;
    } else if (section === undefined) {
      const refused = `File contains no section headers.\nfile: '${path}', line: ${i + 1}\n${repr(`${line}\n`)}`;
      return { header: "", repositories: new Map(), refused };
    } else {
      const [, key, value] = /^(.*?)\s*[=:]\s*(.*)$/.exec(trimmed) ?? [];
      if (key === undefined || key === "") {
        wrong += `\n\t${place}: ${repr(`${line}\n`)}`;
        continue;
      }
      option = key.toLowerCase();
      if (strict && section.has(option)) {
        throw new CommandError(
          `While reading from '${path}' ${place}: option '${option}' in section '${where}' already exists`,
        );
      }
      section.set(option, value);
    }
  }
  if (wrong !== "") throw new CommandError(`Source contains parsing errors: '${path}'${wrong}`);
  return { header, repositories };
}

/** Comments as lines of a file, as yum keeps them. */
export function yumComments(given: Value): string {
  return asList(given).map((one) => `# ${str(one).replace(/^#+/, "").trimStart()}\n`).join("");
}

function optionLines(repository: ValueMap): string[] {
  return [...repository].filter(([key]) => key !== "comments").map(([key, value]) => {
    const text = typeof value === "boolean" ? (value ? "1" : "0") : str(value).replaceAll("\n", "\n ");
    return `${str(key)}=${text}`;
  });
}

/** The file after a repository was changed. */
export function formatRepoFile({ header, repositories }: RepoFile): string {
  return header + [...repositories].map(([name, repository]) => {
    const lines = [`[${name}]`, ...optionLines(repository)].map((line) => `${line}\n`).join("");
    return `${lines}${yumComments(repository.get("comments") ?? [])}\n`;
  }).join("");
}

/** The file after a repository was removed from it; Salt writes the blank lines at other places. */
export function formatRemaining({ header, repositories }: RepoFile): string {
  return header + [...repositories].map(([name, repository]) => {
    const lines = [`[${name}]`, ...optionLines(repository)].map((line) => `\n${line}`).join("");
    return `${lines}\n${yumComments(repository.get("comments") ?? [])}\n`;
  }).join("");
}
