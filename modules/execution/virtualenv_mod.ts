/**
 * Execution module `virtualenv`: virtual environments of Python.
 * Source: the functions of Salt 3008.3 `salt/modules/virtualenv_mod.py`.
 * @module
 */

import { holdTarget } from "#lib/os/held_path.ts";
import { callForMap, callRunAll } from "./_file_host.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { globAny } from "#lib/os/disk_paths.ts";
import { baseName, joinPath } from "#lib/os/paths.ts";
import { which } from "#lib/programs/which.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { splitWords } from "#lib/host/language_packages/pip_command.ts";
import { isDirectory, lexists } from "#lib/os/file_kind.ts";
import { findUser } from "#lib/os/users.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = { name: "virtualenv" };

/** Programs that make environments, the first that is there counts; without any, Python's own module is used. */
const PROGRAMS = ["virtualenv", "virtualenv3"];

function isPython(program: string): boolean {
  return /^(python|pypy)[0-9.]*$/i.test(baseName(program));
}

async function versionOf(program: string, user: string | null, more: ValueMap, context: JobContext): Promise<number[]> {
  const words = [program, "--version"];
  const keywords = new Map<Value, Value>([["runas", user], ...ownKeywords(more)]);
  const result = await callRunAll(context, words, { joined: true, more: keywords });
  const output = str(result.get("stdout") ?? "").trim();
  if (Number(result.get("retcode")) > 0 || output === "") {
    throw new CommandError(
      `Unable to get the virtualenv version output using '${repr(words)}'. Returned data: ${repr(result)}`,
    );
  }
  const version = output.split(/\s+/).filter((word) => /^\d.\d*/.test(word)).join("");
  return version.replace(/(rc|\+ds).*$/, "").split(".").map(Number);
}

export const virtualenv_ver: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of virtualenv, a list of numbers.", "virtualenv.virtualenv_ver virtualenv"),
  permissions: "all",
  params: { venv_bin: p.str(), user: p.str(null) },
  varKwargs: "kwargs",
  run: ({ venv_bin, user }, context, { kwargs }) => versionOf(venv_bin, user, kwargs, context),
});

/** Arguments of `create`. */
interface Creation {
  readonly python: string | null;
  readonly extra_search_dir: Value;
  readonly never_download: Value;
  readonly prompt: string | null;
  readonly symlinks: Value;
  readonly upgrade: Value;
  readonly distribute: boolean;
}

function isGiven(value: string | null): value is string {
  return value !== null && value.trim() !== "";
}

function requirePython(python: string): string {
  if (which(python) === undefined) throw new CommandError(`Cannot find requested python (${python}).`);
  return python;
}

function isBelow(version: readonly number[], major: number, minor: number): boolean {
  return version[0] < major || (version[0] === major && (version[1] ?? 0) < minor);
}

/**
 * Options of the program virtualenv.
 * @throws {CommandError} For those that only the module venv has.
 */
function virtualenvWords(given: Creation, version: readonly number[]): string[] {
  const { python, extra_search_dir, never_download, prompt } = given;
  const words = given.distribute && isBelow(version, 1, 10) ? ["--distribute"] : [];
  if (isGiven(python)) words.push(`--python=${requirePython(python)}`);
  if (extra_search_dir !== null) words.push(...splitWords(extra_search_dir).map((one) => `--extra-search-dir=${one}`));
  const wasGone = !isBelow(version, 1, 10) && isBelow(version, 14, 0);
  if (never_download === true && !wasGone) words.push("--never-download");
  if (never_download === false && !isBelow(version, 20, 0)) words.push("--download");
  if (isGiven(prompt)) words.push(`--prompt='${prompt}'`);
  return words;
}

function unsupportedOption(name: string, option: string, program: string): CommandError {
  return new CommandError(`The \`${name}\`(\`${option}\`) option is not supported by '${program}'`);
}

/**
 * Options of the module venv.
 * @throws {CommandError} For those that only virtualenv has.
 */
function venvWords(program: string, given: Creation): string[] {
  const { extra_search_dir: more, never_download, prompt } = given;
  if (more !== null && (typeof more !== "string" || more.trim() !== "")) {
    throw unsupportedOption("extra_search_dir", "--extra-search-dir", program);
  }
  if (never_download !== null) throw unsupportedOption("never_download", "--never-download", program);
  return [
    ...given.upgrade === true ? ["--upgrade"] : [],
    ...given.symlinks === true ? ["--symlinks"] : [],
    ...isGiven(prompt) ? ["--prompt", prompt] : [],
  ];
}

/** The words up to the options, and whether the module venv is meant. */
function programWords(program: string, python: string | null): { readonly words: string[]; readonly isVenv: boolean } {
  if (program === "venv") {
    const interpreter = isGiven(python) ? requirePython(python) : "python3";
    return { words: [interpreter, "-m", "venv"], isVenv: true };
  }
  if (!isPython(program)) {
    const isVenv = program.includes("venv");
    if (isVenv && isGiven(python)) throw unsupportedOption("python", "--python", program);
    return { words: [program], isVenv };
  }
  if (isGiven(python)) {
    throw new CommandError("Pass the target interpreter either as `venv_bin` or as `python`, not both.");
  }
  return { words: [requirePython(program), "-m", "venv"], isVenv: true };
}

export const create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create a virtual environment. venv_bin: the program, by default that of the option venv_bin, virtualenv or the module venv\n" +
      "of Python; a path of a Python takes its venv. pip: also install pip. The other arguments are options of virtualenv or\n" +
      "venv. Return the result of the program, a map.",
    "virtualenv.create /path/to/new/virtualenv",
  ),
  permissions: "all",
  params: {
    path: p.str(),
    venv_bin: p.str(null),
    system_site_packages: p.bool(false),
    distribute: p.bool(false),
    clear: p.bool(false),
    python: p.str(null),
    extra_search_dir: p.any(null),
    never_download: p.any(null),
    prompt: p.str(null),
    pip: p.bool(false),
    symlinks: p.any(null),
    upgrade: p.any(null),
    user: p.str(null),
    use_vt: p.bool(false),
    saltenv: p.str("base"),
  },
  varKwargs: "kwargs",
  async run({ path, venv_bin, user, ...bound }, context, { kwargs }) {
    const program = venv_bin ?? defaultProgram(context);
    const { words, isVenv } = programWords(program, bound.python);
    if (isVenv) words.push(...venvWords(program, bound));
    else {
      if (bound.upgrade !== null) throw unsupportedOption("upgrade", "--upgrade", program);
      if (bound.symlinks !== null) throw unsupportedOption("symlinks", "--symlinks", program);
      words.push(...virtualenvWords(bound, await versionOf(program, user, kwargs, context)));
    }
    if (bound.clear) words.push("--clear");
    if (bound.system_site_packages) words.push("--system-site-packages");
    const wasThere = lexists(path);
    const more = new Map<Value, Value>([["runas", user], ...ownKeywords(kwargs)]);
    const result = await callRunAll(context, [...words, path], { more });
    if (result.get("retcode") !== 0) {
      if (!wasThere && isDirectory(path)) removeAny(path);
      return result;
    }
    const place = { path, user, saltenv: bound.saltenv, context };
    if ((bound.pip || bound.distribute) && !isVenv && !lexists(joinPath(path, "bin/easy_install"))) {
      await runScript("https://bootstrap.pypa.io/ez_setup.py", place);
      for (const left of globAny(joinPath(path, "distribute-*.tar.gz*"))) removeAny(left);
    }
    if (!bound.pip || lexists(joinPath(path, "bin/pip"))) return result;
    const output = await runScript("https://bootstrap.pypa.io/get-pip.py", place);
    const both = (key: string) => `${str(result.get(key) ?? "")}\n${str(output.get(key) ?? "")}`.trim();
    return result.set("retcode", output.get("retcode") ?? 0).set("stdout", both("stdout")).set(
      "stderr",
      both("stderr"),
    );
  },
});

function defaultProgram(context: JobContext): string {
  const configured = context.pillar.get("venv_bin") ?? context.opts.extra.get("venv_bin");
  if (configured !== undefined && truthy(configured)) return str(configured);
  return PROGRAMS.find((name) => which(name) !== undefined) ?? "venv";
}

/** Runs a script of the Python project's with the environment's Python. */
async function runScript(
  source: string,
  { path, user, saltenv, context }: {
    readonly path: string;
    readonly user: string | null;
    readonly saltenv: string;
    readonly context: JobContext;
  },
): Promise<ValueMap> {
  const cached = await context.call("cp.cache_file", [source], map({ saltenv }));
  if (!truthy(cached)) throw new CommandError(`Failed fetching '${source}'`);
  const copy = Deno.makeTempFileSync({ dir: path, prefix: "__salt.tmp." });
  try {
    // The directory may be another user's.
    using held = holdTarget(copy, { follow: false });
    Deno.writeFileSync(held.path, Deno.readFileSync(str(cached)), { create: false });
    Deno.chmodSync(held.path, 0o500);
    const owner = user === null ? undefined : findUser(user);
    if (owner !== undefined) Deno.chownSync(held.path, owner.uid, null);
    const more = map({ runas: user, cwd: path, env: { VIRTUAL_ENV: path } });
    return await callRunAll(context, [joinPath(path, "bin/python"), copy], { more });
  } finally {
    Deno.removeSync(copy);
  }
}

/** Words that Salt does not let into the code that it makes of arguments. */
const UNSAFE = ["import", ";", "subprocess", "eval", "open", "file", "exec", "input"];

/** @throws {InvocationError} If a word could be more than a name. */
function checkNames(...names: readonly (string | null)[]): void {
  const unsafe = names.find((name) =>
    name === null || UNSAFE.some((word) => name.includes(word)) || /['"\\\n]/.test(name)
  );
  if (unsafe !== undefined) throw new InvocationError(`Unsafe python code detected in '${str(unsafe)}'`);
}

/** Runs code with the environment's Python, and returns what it prints. */
async function codeOutput(venv: string, code: string, context: JobContext): Promise<string> {
  const python = joinPath(venv, "bin/python");
  if (!lexists(python)) {
    throw new CommandError(`Path '${venv}' does not appear to be a virtualenv: '${python}' not found.`);
  }
  const output = await callForMap(context, "cmd.exec_code_all", [python, code]);
  const [out, err] = ["stdout", "stderr"].map((key) => str(output.get(key) ?? ""));
  if (output.get("retcode") === 0) return out;
  throw new CommandError(`${out}\n${err}`);
}

export const get_site_packages: ModuleFunction<JobContext> = fn({
  doc: describe("Return the directory of an environment's packages.", "virtualenv.get_site_packages /path/to/my/venv"),
  permissions: "all",
  params: { venv: p.str() },
  run: ({ venv }, context) => codeOutput(venv, 'import sysconfig; print(sysconfig.get_path("purelib"))', context),
});

export const get_distribution_path: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the directory in which an installed distribution is.",
    "virtualenv.get_distribution_path /path/to/my/venv my_distribution",
  ),
  permissions: "all",
  params: { venv: p.str(), distribution: p.str() },
  run({ venv, distribution }, context) {
    checkNames(distribution);
    const code = `import sys
if sys.version_info >= (3, 12):
    import importlib.metadata, sysconfig
    importlib.metadata.distribution('${distribution}')
    print(sysconfig.get_path("purelib"))
else:
    import pkg_resources
    print(pkg_resources.get_distribution('${distribution}').location)
`;
    return codeOutput(venv, code, context);
  },
});

function resource(name: string, does: string, call: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Return ${does} of a package's resource.`,
      `virtualenv.${name} /path/to/my/venv my_package my/resource.xml`,
    ),
    permissions: "all",
    params: { venv: p.str(), package: p.str(null), resource: p.str(null) },
    run({ venv, package: owner, resource }, context) {
      checkNames(owner, resource);
      return codeOutput(venv, `import pkg_resources; print(pkg_resources.${call}('${owner}', '${resource}'))`, context);
    },
  });
}

export const get_resource_path: ModuleFunction<JobContext> = resource(
  "get_resource_path",
  "the path",
  "resource_filename",
);

export const get_resource_content: ModuleFunction<JobContext> = resource(
  "get_resource_content",
  "the contents",
  "resource_string",
);
