/**
 * The functions of the module `git` for other repositories: clones, fetches, pushes, remotes, submodules.
 * Source: the functions of Salt 3008.3 `salt/modules/git.py`.
 * @module
 */

import { createDirectory } from "#lib/os/new_files.ts";
import {
  type Common,
  ENCODING,
  gitOptions,
  HTTPS,
  IDENTITY,
  OPTIONS,
  printing,
  RETCODE,
  runOf,
  SALTENV,
  WHO,
  words,
} from "./arguments.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { gitOptionWords, listedWords, revisionWord, revisionWords } from "#lib/host/git/options.ts";
import { mapUrls, parseFetch, parseReferences, parseRemotes, type Remotes } from "#lib/host/git/output.ts";
import { joinLogin, splitLogin } from "#lib/host/git/logins.ts";
import { knownLogins, storeLogins } from "#lib/host/git/stored_logins.ts";
import { gitOutput, runGit, userPath } from "#lib/host/git/run_git.ts";
import { joinPath } from "#lib/os/paths.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { describe as document } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { refuseOtherKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { hideCredentials, withCredentials } from "#lib/text/url_credentials.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

export const clone: ModuleFunction<JobContext> = fn({
  doc: document(
    "Clone a repository to cwd, or, with name, into a directory of that name in cwd. identity: an SSH private key, or a list of\n" +
      "them. https_user, https_pass: for URLs of https. Return True.",
    "git.clone /path/to/repo_parent_dir git://github.com/saltstack/salt.git",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    url: p.str(null),
    name: p.str(null),
    ...OPTIONS,
    ...WHO,
    ...IDENTITY,
    ...HTTPS,
    ...RETCODE,
    ...SALTENV,
    ...ENCODING,
  },
  async run(bound, context) {
    if (!bound.url) throw new InvocationError("Missing 'url' argument");
    const url = withCredentials(bound.url, bound.https_user, bound.https_pass);
    const { login } = splitLogin(url);
    const run = runOf(bound);
    const [place, directory] = bound.name === null ? [run.cwd ?? "", "/tmp"] : [bound.name, run.cwd ?? ""];
    if (bound.name !== null && !lexists(directory)) createDirectory(directory, { recursive: true });
    await runGit([...words(bound, "clone"), "--", url, place], { ...run, cwd: directory }, context);
    const cwd = joinPath(directory, place);
    if (login !== undefined) await storeLogins({ ...run, cwd }, { kept: [], added: [login] }, context);
    return true;
  },
});

export const fetch: ModuleFunction<JobContext> = fn({
  doc: document(
    "Fetch from a remote, and return a map of what is new: `new branches`, `new tags`, `updated branches` with their old and\n" +
      "new hashes, `updated tags`. refspecs: a list, or a text with commas.",
    "git.fetch /path/to/repo upstream",
    "git.fetch /path/to/repo identity=/root/.ssh/id_rsa",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    remote: p.str(null),
    force: p.bool(false),
    refspecs: p.any(null),
    ...OPTIONS,
    ...WHO,
    ...IDENTITY,
    ...RETCODE,
    ...SALTENV,
    ...ENCODING,
  },
  async run(bound, context) {
    const command = [
      ...gitOptionWords(bound.git_opts),
      "fetch",
      ...bound.force ? ["--force"] : [],
      ...gitOptionWords(bound.opts).filter((one) => one !== "-f" && one !== "--force"),
      ...revisionWords(bound.remote),
      ...bound.refspecs === null ? [] : listedWords(bound.refspecs).map((one) => revisionWord(one, "refspec")),
    ];
    return parseFetch(await gitOutput(command, runOf(bound, { joined: true }), context));
  },
});

export const ls_remote: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the hashes of a remote's references by their names, of all, or of those that match ref. remote: a name, with cwd,\n" +
      "or a URL.",
    "git.ls_remote /path/to/repo origin master",
    "git.ls_remote remote=https://mydomain.tld/repo.git ref=mytag opts='--tags'",
  ),
  permissions: "all",
  params: {
    cwd: p.str(null),
    remote: p.str("origin"),
    ref: p.str(null),
    ...OPTIONS,
    ...WHO,
    ...IDENTITY,
    ...HTTPS,
    ...RETCODE,
    ...ENCODING,
    ...SALTENV,
  },
  async run({ cwd, ...bound }, context) {
    const remote = revisionWord(withCredentials(bound.remote, bound.https_user, bound.https_pass), "remote");
    const command = [...words(bound, "ls-remote"), remote, ...revisionWords(bound.ref)];
    const run = cwd === null ? runOf({ ...bound, cwd: "/" }, { cwd: undefined }) : runOf({ ...bound, cwd });
    return parseReferences(await gitOutput(command, run, context));
  },
});

export const pull: ModuleFunction<JobContext> = printing(
  document(
    "Pull from the branch that is followed, and return what git says.",
    "git.pull /path/to/repo opts='--rebase origin master'",
  ),
  { cwd: p.str(), ...OPTIONS, ...WHO, ...IDENTITY, ...RETCODE, ...SALTENV, ...ENCODING },
  (bound) => words(gitOptions(bound), "pull"),
);

export const push: ModuleFunction<JobContext> = printing(
  document(
    "Push to a remote, and return what git says. ref: a branch, tag or refspec.",
    "git.push /path/to/repo origin master",
    "git.push /path/to/repo origin issue21:upstream/issue21",
  ),
  {
    cwd: p.str(),
    remote: p.str(null),
    ref: p.str(null),
    ...OPTIONS,
    ...WHO,
    ...IDENTITY,
    ...RETCODE,
    ...SALTENV,
    ...ENCODING,
  },
  (bound, kwargs) => {
    refuseOtherKeywords(kwargs);
    return [...words(gitOptions(bound), "push"), ...revisionWords(bound.remote, bound.ref)];
  },
  { varKwargs: "kwargs" },
);

export const remote_get: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the URLs of a remote.",
    "git.remote_get /path/to/repo",
    "git.remote_get /path/to/repo upstream",
  ),
  permissions: "all",
  params: { cwd: p.str(), remote: p.str("origin"), ...WHO, redact_auth: p.bool(true), ...RETCODE, ...ENCODING },
  run: async ({ remote, redact_auth, ...bound }, context) =>
    urlsOf(
      remote,
      redact_auth ? hideRemotes(await remotesOf(bound, context)) : await wholeRemotes(bound, context),
      bound,
    ),
});

function remotesOf(bound: Common, context: JobContext): Promise<Remotes> {
  return gitOutput(["remote", "--verbose"], runOf(bound), context).then(parseRemotes);
}

/** The remotes with passwords, also those that are not in their URLs. */
async function wholeRemotes(bound: Common, context: JobContext): Promise<Remotes> {
  const { stored } = knownLogins(userPath(bound.cwd, bound.user));
  return mapUrls(await remotesOf(bound, context), (url) => joinLogin(url, stored));
}

/** The remotes without user names and passwords. */
function hideRemotes(remotes: Remotes): Remotes {
  return mapUrls(remotes, hideCredentials);
}

function urlsOf(name: string, remotes: Remotes, { cwd, user }: Common): ValueMap {
  const urls = remotes.get(name);
  if (urls !== undefined) return new Map(urls);
  throw new CommandError(`Remote '${name}' not present in git checkout located at ${userPath(cwd, user)}`);
}

export const remote_refs: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the hashes of the references at a URL, by their names: heads=True the branches, tags=True the tags, filter=… those\n" +
      "that match.",
    "git.remote_refs https://github.com/saltstack/salt.git",
    "git.remote_refs https://github.com/saltstack/salt.git filter=develop",
  ),
  permissions: "all",
  params: {
    url: p.str(),
    heads: p.bool(false),
    tags: p.bool(false),
    ...WHO,
    ...IDENTITY,
    ...HTTPS,
    ...RETCODE,
    ...ENCODING,
    ...SALTENV,
  },
  varKwargs: "kwargs",
  async run({ url, heads, tags, ...bound }, context, { kwargs }) {
    refuseOtherKeywords(kwargs, ["filter"]);
    const filter = kwargs.get("filter") ?? null;
    const command = [
      "ls-remote",
      ...heads ? ["--heads"] : [],
      ...tags ? ["--tags"] : [],
      revisionWord(withCredentials(url, bound.https_user, bound.https_pass), "URL"),
      ...revisionWords(filter),
    ];
    return parseReferences(await gitOutput(command, runOf({ ...bound, cwd: "/" }, { cwd: undefined }), context));
  },
});

export const remote_set: ModuleFunction<JobContext> = fn({
  doc: document(
    "Set the URLs of a remote, which is replaced if it exists, and return them.",
    "git.remote_set /path/to/repo git@github.com:user/repo.git",
    "git.remote_set /path/to/repo https://github.com/user/repo.git remote=upstream push_url=git@github.com:user/repo.git",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    url: p.str(),
    remote: p.str("origin"),
    ...WHO,
    ...HTTPS,
    push_url: p.str(null),
    push_https_user: p.str(null),
    push_https_pass: p.str(null),
    ...RETCODE,
    ...ENCODING,
  },
  async run({ url, push_url, ...bound }, context) {
    const remote = revisionWord(bound.remote, "remote");
    const fetched = splitLogin(revisionWord(withCredentials(url, bound.https_user, bound.https_pass), "URL"));
    const pushed = push_url
      ? splitLogin(revisionWord(withCredentials(push_url, bound.push_https_user, bound.push_https_pass), "URL"))
      : undefined;
    const run = runOf(bound);
    const remotes = await remotesOf({ ...bound, ignore_retcode: false }, context);
    if (remotes.delete(remote)) await runGit(["remote", "rm", remote], run, context);
    await runGit(["remote", "add", remote, fetched.url], run, context);
    if (pushed) await runGit(["remote", "set-url", "--push", remote, pushed.url], run, context);
    const kept = [...remotes.values()].flatMap((urls) => [...urls.values()]);
    const added = [fetched, pushed].flatMap((one) => one?.login ?? []);
    await storeLogins({ ...run, cwd: userPath(bound.cwd, bound.user) }, { kept, added }, context);
    return urlsOf(remote, hideRemotes(await remotesOf(bound, context)), bound);
  },
});

export const remotes: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the remotes with their URLs; redact_auth=False shows the passwords in them.",
    "git.remotes /path/to/repo",
  ),
  permissions: "all",
  params: { cwd: p.str(), ...WHO, redact_auth: p.bool(true), ...RETCODE, ...ENCODING },
  run: async ({ redact_auth, ...bound }, context) => {
    const remotes = redact_auth ? hideRemotes(await remotesOf(bound, context)) : await wholeRemotes(bound, context);
    return new Map([...remotes].map(([name, urls]) => [name, new Map(urls)]));
  },
});

export const submodule: ModuleFunction<JobContext> = printing(
  document(
    "Run a command of git submodule: add, init, update, sync, …, with its arguments in opts.",
    "git.submodule /path/to/repo/sub/repo add opts='https://mydomain.tld/repo.git subdir'",
    "git.submodule /path/to/repo update opts='--init'",
  ),
  {
    cwd: p.str(),
    command: p.str(),
    ...OPTIONS,
    ...WHO,
    ...IDENTITY,
    ...RETCODE,
    ...SALTENV,
    ...ENCODING,
  },
  (bound, kwargs) => {
    refuseOtherKeywords(kwargs, ["init"]);
    if (isTrue(kwargs.get("init"))) {
      throw new InvocationError(
        "The 'init' argument is no longer supported. Either set 'command' to 'init', or include '--init' in the 'opts' " +
          "argument and set 'command' to 'update'.",
      );
    }
    return words(gitOptions(bound), "submodule", revisionWord(str(bound.command), "command"));
  },
  { varKwargs: "kwargs" },
);
