/**
 * Execution module `file`: the functions that states of managed files call: find the source, get its contents, put them
 * in place. Source: the functions of Salt 3008.3 `salt/modules/file.py`.
 * @module
 */

import { attributeLetters } from "#lib/host/filesystem/attributes.ts";
import { fileHost, sourceFiles } from "#modules/execution/_file_host.ts";
import {
  IGNORING,
  ignoringOf,
  laidOver,
  readContents,
  removeMade,
  rendererOf,
  SELINUX,
  sumMap,
  sumOf,
  textOr,
} from "./managed_arguments.ts";
import { signatureCheck, SIGNATURES } from "./signatures.ts";
import { manageFile } from "#lib/host/filesystem/managing.ts";
import { permissionResultMap, readResult } from "#lib/host/filesystem/permission_check.ts";
import { chooseSource, findManaged } from "#lib/host/filesystem/sources.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, str, truthy } from "#lib/values/value.ts";

export const source_list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the source and the hash to use: the first source of a list that exists.",
    "file.source_list salt://http/httpd.conf '{hash_type: 'md5', 'hsum': <md5sum>}' base",
  ),
  permissions: "all",
  params: { source: p.any(), source_hash: p.any(), saltenv: p.str() },
  run: async ({ source, source_hash, saltenv }, context) => {
    const chosen = await chooseSource(source, source_hash, { saltenv, files: sourceFiles(context) });
    return [chosen.source, chosen.hash];
  },
});

export const apply_template_on_contents: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Render text by a template engine, with the variables of `defaults` and `context`. For an unknown engine, the result is a map with `result` False.",
    "file.apply_template_on_contents contents='This is a {{ template }} string.' template=jinja \"context={}\" \"defaults={'template': 'cool'}\" saltenv=base",
  ),
  // A template may call any function.
  permissions: "all",
  params: { contents: p.any(), template: p.any(), context: p.any(), defaults: p.any(), saltenv: p.any() },
  async run({ contents, template, context: more, defaults, saltenv }, context) {
    const { isEngine, renderText, templateVariables } = await import("#modules/execution/_templates.ts");
    const engine = str(template);
    if (!isEngine(engine)) {
      return map({ result: false, comment: `Specified template format ${engine} is not supported` });
    }
    const source = contents instanceof Uint8Array ? new TextDecoder().decode(contents) : str(contents);
    const variables = templateVariables(engine, new Map(), laidOver(defaults, more));
    return await renderText(source, { engine, saltenv: textOr(saltenv, "base"), variables }, context);
  },
});

export const get_managed: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the path of a file with a managed file's contents, its digest, and an error text (empty if there is no error).",
    "file.get_managed /etc/httpd/conf.d/httpd.conf jinja salt://http/httpd.conf '{hash_type: 'md5', 'hsum': <md5sum>}' None root root '755' base None None",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    template: p.any(),
    source: p.any(),
    source_hash: p.any(),
    source_hash_name: p.any(),
    user: p.any(),
    group: p.any(),
    mode: p.any(),
    attrs: p.any(),
    saltenv: p.any(),
    context: p.any(),
    defaults: p.any(),
    skip_verify: p.bool(false),
    verify_ssl: p.bool(true),
    use_etag: p.bool(false),
    ...SIGNATURES,
    ...IGNORING,
    sig_backend: p.str("gpg"),
  },
  varKwargs: "kwargs",
  run: async (given, context, { kwargs }) => {
    const { sfn, sum, problem } = await findManaged({
      render: rendererOf(given, context, kwargs),
      files: sourceFiles(context),
      verifySsl: given.verify_ssl,
      useEtag: given.use_etag,
      name: given.name,
      source: textOr(given.source),
      sourceHash: truthy(given.source_hash) ? str(given.source_hash) : null,
      sourceHashName: truthy(given.source_hash_name) ? str(given.source_hash_name) : null,
      template: truthy(given.template) ? str(given.template) : null,
      skipVerify: given.skip_verify,
      saltenv: textOr(given.saltenv, "base"),
      checkHashFile: signatureCheck(given.source_hash_sig, given, context),
    });
    return [sfn, sumMap(sum), problem];
  },
});

export const manage_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Put the contents of a source, or `contents`, into a file, with owner, group and mode. Returns a state's result.",
    "file.manage_file /etc/httpd/conf.d/httpd.conf '' '{}' salt://http/httpd.conf '{hash_type: 'md5', 'hsum': <md5sum>}' root root '755' '' base ''",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    sfn: p.any(),
    ret: p.any(),
    source: p.any(),
    source_sum: p.any(),
    user: p.any(),
    group: p.any(),
    mode: p.any(),
    attrs: p.any(),
    saltenv: p.any(),
    backup: p.any(),
    makedirs: p.bool(false),
    template: p.any(null),
    show_changes: p.bool(true),
    contents: p.any(null),
    dir_mode: p.any(null),
    follow_symlinks: p.bool(true),
    skip_verify: p.bool(false),
    keep_mode: p.bool(false),
    encoding: p.str(null),
    encoding_errors: p.str("strict"),
    ...SELINUX,
    verify_ssl: p.bool(true),
    use_etag: p.bool(false),
    signature: p.any(null),
    ...SIGNATURES,
    ...IGNORING,
    new_file_diff: p.bool(false),
    sig_backend: p.str("gpg"),
  },
  varKwargs: "kwargs",
  run: async (given, context) => {
    const name = expandUser(given.name);
    const ret = readResult(name, given.ret);
    const mode = await context.call("config.backup_mode", [textOr(given.backup)]);
    try {
      const done = await manageFile(ret, {
        ...given,
        name,
        sfn: textOr(given.sfn),
        source: textOr(given.source),
        saltenv: textOr(given.saltenv, "base"),
        sum: sumOf(given.source_sum),
        attrs: attributeLetters(given.attrs),
        backup: str(mode),
        dirMode: given.dir_mode,
        showChanges: given.show_changes,
        contents: readContents(given.contents),
        follow: given.follow_symlinks,
        skipVerify: given.skip_verify,
        keepMode: given.keep_mode,
        encodingErrors: given.encoding_errors,
        ignoring: ignoringOf(given),
        newFileDiff: given.new_file_diff,
        checkSource: signatureCheck(given.signature, given, context),
      }, fileHost(context));
      return permissionResultMap(done);
    } finally {
      if (truthy(given.template)) await removeMade(textOr(given.sfn));
    }
  },
});
