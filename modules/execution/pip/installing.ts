/**
 * Execution module `pip`: installing Python packages. Its functions that list installed packages are in
 * `listing.ts`. Source: the functions of Salt 3008.3 `salt/modules/pip.py`.
 * @module
 */

import { packagesOf, upgradesOf } from "./packages.ts";
import { forgetVersion, isPipOlderThan, runPip, versionOf, WHERE } from "./running.ts";
import { CommandError } from "#lib/errors.ts";
import { isDirectory, lexistsOrThrow } from "#lib/os/file_kind.ts";
import {
  checkedUrl,
  extraWords,
  optionWithValue,
  proxyWords,
  repeatOption,
  splitWords,
  timeoutWords,
} from "#lib/host/language_packages/pip_command.ts";
import { normalizePipName } from "#lib/host/language_packages/pip_output.ts";
import { Requirements } from "#lib/host/language_packages/pip_requirements.ts";
import { changesBetween } from "#lib/host/packages/changes.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const version: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the version of pip. bin_env: a virtual environment, or the path of a pip or Python, as for all functions. Default:\n" +
      "python3 in PATH.",
    "pip.version",
  ),
  permissions: "all",
  params: { bin_env: p.str(null), cwd: p.str(null), user: p.str(null) },
  run: (pip, context) => versionOf(pip, context),
});

export const normalize: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the normalized name of a package, which is equal for all its spellings.",
    "pip.normalize Zope.Interface",
  ),
  params: { name: p.str() },
  run: ({ name }) => normalizePipName(name),
});

/** Options that pip has had between these versions. */
function wheelWords(option: string, version: string | null, context: JobContext): string[] {
  if (!isPipOlderThan(version, "1.4") && version !== null && compareLooseVersions(version, "9.0.3") <= 0) {
    return [option];
  }
  context.log("error", `The ${option} option is only supported in pip between 1.4 and 9.0.3, and is ignored`);
  return [];
}

function checkLog(path: string): string[] {
  if (isDirectory(path)) throw new CommandError(`'${path}' is a directory. Use --log path_to_file`);
  const parent = path.replace(/\/[^/]*$/, "") || "/";
  if (!lexistsOrThrow(path) && !lexistsOrThrow(parent)) {
    throw new CommandError(`Trying to create '${path}' but parent directory '${parent}' does not exist.`);
  }
  return ["--log", path];
}

function linkWords(links: Value): string[] {
  return splitWords(links).flatMap((link) => {
    if (/^(https?|ftp|file):/i.test(link) || lexistsOrThrow(link)) return ["--find-links", link];
    throw new CommandError(`'${link}' is not a valid URL or path`);
  });
}

function mirrorWords(mirrors: Value, version: string | null): string[] {
  if (!truthy(mirrors)) return [];
  if (!isPipOlderThan(version, "7.0.0")) {
    throw new CommandError(
      "pip >= 7.0.0 does not support mirror argument: use index_url and/or extra_index_url instead",
    );
  }
  const wrong = splitWords(mirrors).find((one) => !one.startsWith("http://"));
  if (wrong !== undefined) throw new CommandError(`'${wrong}' is not a valid URL`);
  return ["--use-mirrors", ...repeatOption("--mirrors", mirrors)];
}

function editableWords(editable: Value): string[] {
  return splitWords(editable).flatMap((entry) => {
    const isLocal = entry === "." || entry.startsWith("file://") || entry.startsWith("/");
    if (!isLocal && !/(?:#|#.*?&)egg=[^&]+/.test(entry)) {
      throw new CommandError("You must specify an egg for this editable");
    }
    return ["--editable", entry];
  });
}

function existsWords(action: string | null): string[] {
  if (!action) return [];
  if (["s", "i", "w", "b"].includes(action.toLowerCase())) return ["--exists-action", action];
  throw new CommandError(
    `The exists_action pip option only supports the values s, i, w, and b. '${action}' is not valid.`,
  );
}

/** The failure of a file of requirements that is not there. */
async function addRequirements(
  requirements: Requirements,
  given: Value,
  pip: { readonly saltenv: string; readonly user: string | null; readonly cwd: string | null },
  context: JobContext,
): Promise<ValueMap | undefined> {
  for (const one of splitWords(given)) {
    if (await requirements.add(one, { ...pip, context })) continue;
    return map({ result: false, comment: `pip requirements file '${one}' not found` });
  }
  return undefined;
}

export const install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install Python packages: pkgs (names with versions, a list, or a text with commas), requirements (files), or editable\n" +
      "(directories and URLs). Return the result of pip, a map. All other arguments are options of pip of these names;\n" +
      "user: as whom it runs; env_vars: environment variables; further keywords are those of cmd.run_all.",
    "pip.install <package name>,<package2 name>",
    "pip.install requirements=/path/to/requirements.txt",
    "pip.install <package name> bin_env=/path/to/virtualenv",
    "pip.install 'markdown,django' editable=git+https://github.com/worldcompany/djangoembed.git#egg=djangoembed upgrade=True no_deps=True",
  ),
  permissions: "all",
  params: {
    pkgs: p.any(null),
    requirements: p.any(null),
    bin_env: p.str(null),
    use_wheel: p.bool(false),
    no_use_wheel: p.bool(false),
    log: p.str(null),
    proxy: p.any(null),
    timeout: p.any(null),
    editable: p.any(null),
    find_links: p.any(null),
    index_url: p.str(null),
    extra_index_url: p.str(null),
    no_index: p.bool(false),
    mirrors: p.any(null),
    build: p.str(null),
    target: p.str(null),
    download: p.str(null),
    download_cache: p.str(null),
    source: p.str(null),
    upgrade: p.bool(false),
    force_reinstall: p.bool(false),
    ignore_installed: p.bool(false),
    exists_action: p.str(null),
    no_deps: p.bool(false),
    no_install: p.bool(false),
    no_download: p.bool(false),
    global_options: p.any(null),
    install_options: p.any(null),
    user: p.str(null),
    cwd: p.str(null),
    pre_releases: p.bool(false),
    cert: p.str(null),
    allow_all_external: p.bool(false),
    allow_external: p.any(null),
    allow_unverified: p.any(null),
    process_dependency_links: p.bool(false),
    saltenv: p.str("base"),
    env_vars: p.any(null),
    use_vt: p.bool(false),
    trusted_host: p.str(null),
    no_cache_dir: p.bool(false),
    extra_args: p.any(null),
    cache_dir: p.str(null),
    no_binary: p.any(null),
    disable_version_check: p.bool(false),
  },
  varKwargs: "kwargs",
  async run(bound, context, { kwargs }) {
    const { index_url, extra_index_url, target } = bound;
    using requirements = new Requirements();
    const missing = await addRequirements(requirements, bound.requirements, bound, context);
    if (missing !== undefined) return missing;
    const pip = await versionOf(bound, context);
    const flag = (option: string, isSet: boolean) => isSet ? [option] : [];
    if (bound.no_index && (index_url || extra_index_url)) {
      throw new CommandError("'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive.");
    }
    const cacheOption = isPipOlderThan(pip, "6.0") ? "--download-cache" : "--cache-dir";
    const words = [
      "install",
      ...requirements.words,
      ...bound.use_wheel ? wheelWords("--use-wheel", pip, context) : [],
      ...bound.no_use_wheel ? wheelWords("--no-use-wheel", pip, context) : [],
      ...truthy(bound.no_binary) && !isPipOlderThan(pip, "7.0.0")
        ? ["--no-binary", splitWords(bound.no_binary).join(",")]
        : [],
      ...bound.log ? checkLog(bound.log) : [],
      ...proxyWords(bound.proxy, (name) => context.opts.extra.get(name)),
      ...timeoutWords(bound.timeout),
      ...linkWords(bound.find_links),
      ...index_url ? ["--index-url", checkedUrl(index_url)] : [],
      ...extra_index_url ? ["--extra-index-url", checkedUrl(extra_index_url)] : [],
      ...flag("--no-index", bound.no_index),
      ...mirrorWords(bound.mirrors, pip),
      ...flag("--disable-pip-version-check", bound.disable_version_check),
      ...optionWithValue("--build", bound.build),
      ...optionWithValue(
        "--target",
        target ?? (bound.bin_env === null ? Deno.env.get("VENV_PIP_TARGET") ?? null : null),
      ),
      ...optionWithValue("--download", bound.download),
      ...optionWithValue(cacheOption, bound.download_cache || bound.cache_dir),
      ...optionWithValue("--source", bound.source),
      ...flag("--upgrade", bound.upgrade),
      ...flag("--force-reinstall", bound.force_reinstall),
      ...flag("--ignore-installed", bound.ignore_installed),
      ...existsWords(bound.exists_action),
      ...flag("--no-deps", bound.no_deps),
      ...flag("--no-install", bound.no_install),
      ...flag("--no-download", bound.no_download),
      ...flag("--no-cache-dir", bound.no_cache_dir),
      ...flag("--pre", bound.pre_releases && !isPipOlderThan(pip, "1.4")),
      ...optionWithValue("--cert", bound.cert),
      ...repeatOption("--global-option", bound.global_options),
      ...repeatOption("--install-option", bound.install_options),
    ];
    if (!truthy(bound.pkgs) && !truthy(bound.requirements) && !truthy(bound.editable)) {
      return { retcode: 0, stdout: "No packages to install." };
    }
    words.push(
      ...splitWords(bound.pkgs).map((one) => one.replaceAll(";", ",")),
      ...editableWords(bound.editable),
      ...flag("--allow-all-external", bound.allow_all_external),
      ...repeatOption("--allow-external", bound.allow_external),
      ...repeatOption("--allow-unverified", bound.allow_unverified),
      ...flag("--process-dependency-links", bound.process_dependency_links),
      ...optionWithValue("--trusted-host", bound.trusted_host),
      ...extraWords(bound.extra_args),
    );
    return await runPip(words, bound, { context, more: kwargs });
  },
});

export const uninstall: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Uninstall Python packages: pkgs, or those of the files requirements. Return the result of pip, a map.",
    "pip.uninstall <package name>,<package2 name>",
    "pip.uninstall requirements=/path/to/requirements.txt",
  ),
  permissions: "all",
  params: {
    pkgs: p.any(null),
    requirements: p.any(null),
    bin_env: p.str(null),
    log: p.str(null),
    proxy: p.any(null),
    timeout: p.any(null),
    user: p.str(null),
    cwd: p.str(null),
    saltenv: p.str("base"),
    use_vt: p.bool(false),
    extra_args: p.any(null),
  },
  async run(bound, context) {
    using requirements = new Requirements();
    const missing = await addRequirements(requirements, bound.requirements, bound, context);
    if (missing !== undefined) return missing;
    const packages = new Set(splitWords(bound.pkgs));
    if (packages.size > 0 && truthy(bound.requirements)) {
      // A package that a file names with its version need not be named again.
      for (const path of splitWords(bound.requirements).filter((one) => one.startsWith("/"))) {
        for (const line of splitLines(Deno.readTextFileSync(path))) packages.delete(line.split("==")[0]);
      }
    }
    const words = [
      "uninstall",
      "-y",
      ...requirements.words,
      ...optionWithValue("--log", bound.log),
      ...proxyWords(bound.proxy, (name) => context.opts.extra.get(name)),
      ...timeoutWords(bound.timeout),
      ...packages,
      ...extraWords(bound.extra_args),
    ];
    return await runPip(words, bound, { context });
  },
});

export const upgrade: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Upgrade all packages, and return a map: `result`, `changes` with the old and new versions, and the output of pip.",
    "pip.upgrade",
  ),
  permissions: "all",
  params: { ...WHERE, use_vt: p.bool(false) },
  async run(pip, context) {
    const before = await packagesOf(null, pip, new Map(), context);
    let [result, comment] = [true, ""];
    for (const name of (await upgradesOf(pip, context)).keys()) {
      const upgraded = await runPip(["install", "-U", "--disable-pip-version-check", str(name)], pip, { context });
      if (upgraded.get("retcode") !== 0) result = false;
      comment += str(upgraded.get("stderr") ?? "");
    }
    forgetVersion(pip, context);
    const changes = changesBetween(before, await packagesOf(null, pip, new Map(), context));
    return { changes, result, comment };
  },
});
