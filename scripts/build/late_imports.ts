/**
 * How a script imports its other files when it needs them. Deno reads and looks through each file that an `import()` names in its text, at the
 * start, whether it is imported or not; and an `import()` of a file costs 3 to 10 ms, also if that file only passes on
 * what another exports. So names are taken from the text, and what the start file holds is taken from there.
 * @module
 */

/** One file of a script. */
export interface ScriptFile {
  readonly fileName: string;
  readonly code: string;
}

/**
 * The files of a script as Deno is to have them: without those that only pass on exports of `startFile`, and with late imports. Every
 * place in the code stays where it is, for the source maps.
 * @param stem How the names of all files begin: `salt`.
 * @throws {RangeError} For an `import()` of a file that is none of them.
 */
export function withLateImports(files: readonly ScriptFile[], stem: string): ScriptFile[] {
  const startFile = `${stem}.start.mjs`;
  const passed = new Map(files.flatMap(({ fileName, code }) => {
    const names = passedOn(code, startFile);
    return names === undefined ? [] : [[fileName, names] as const];
  }));
  const known = new Set(files.map(({ fileName }) => fileName));
  return files.filter(({ fileName }) => !passed.has(fileName)).map(({ fileName, code }) => {
    const needed = new Map<string, string>();
    let any = false;
    const changed = code.replaceAll(/import\(`\.\/([^`$]+)`\)/g, (text, file: string) => {
      if (!known.has(file) || !file.startsWith(`${stem}.`)) throw new RangeError(`${fileName} imports ${file}`);
      any = true;
      const name = file.slice(stem.length + 1, -".mjs".length);
      const names = passed.get(file);
      if (names !== undefined) needed.set(name, names);
      return `__late\`${name}\``.padEnd(text.length);
    });
    return { fileName, code: any ? withLate(changed, { stem, startFile, needed }) : code };
  });
}

/** `{b:__start.a}` of a file that holds nothing but `export{a as b}from"./salt.start.mjs";`, else `undefined`. */
function passedOn(code: string, startFile: string): string | undefined {
  const [, names, file] = /^export\{([^}]*)\}from"\.\/([^"]+)";\s*(?:\/\/.*)?$/.exec(code.trim()) ?? [];
  if (file !== startFile) return undefined;
  return `{${
    names.split(",").map((name) => {
      const [from, to = from] = name.split(" as ");
      return `${to}:__start.${from}`;
    }).join()
  }}`;
}

/** `code` with the function that its late imports call. It comes at the end, as the map knows the lines before; what names the map stays last. */
function withLate(
  code: string,
  { stem, startFile, needed }: {
    readonly stem: string;
    readonly startFile: string;
    readonly needed: ReadonlyMap<string, string>;
  },
): string {
  const [body, comment = ""] = code.split(/(?=\/\/# sourceMappingURL=)/);
  const file = `import("./${stem}."+name+".mjs")`;
  if (needed.size === 0) return `${body}\nfunction __late([name]){return ${file}}\n${comment}`;
  const here = [...needed].map(([name, exports]) => `${JSON.stringify(name)}:()=>(${exports})`).join();
  return `${body}\nimport*as __start from"./${startFile}";\n` +
    `function __late([name]){const here={${here}}[name];return here?Promise.resolve(here()):${file}}\n${comment}`;
}
