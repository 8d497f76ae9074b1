/**
 * Execution functions whose result depends only on grains, pillar, options and their arguments: a pillar file
 * that calls only these can be cached. Also detects templates that depend on more than their reads: the clock, random
 * values, other files.
 * @module
 */

const PURE = new Set(
  `
  config.get config.option
  defaults.deepcopy defaults.merge defaults.update
  grains.equals grains.fetch grains.filter_by grains.get grains.has_value grains.item grains.items grains.ls
  hashutil.base64_b64decode hashutil.base64_b64encode hashutil.base64_decodestring hashutil.base64_encodestring hashutil.digest
  hashutil.hmac_signature hashutil.md5_digest hashutil.sha256_digest hashutil.sha512_digest
  match.compound match.filter_by match.glob match.grain match.grain_pcre match.ifelse match.ipcidr match.list match.pcre match.pillar
  match.pillar_pcre match.search_by
  pillar.fetch pillar.filter_by pillar.get pillar.item pillar.keys pillar.raw
  slsutil.banner slsutil.boolstr slsutil.deserialize slsutil.merge slsutil.merge_all slsutil.serialize slsutil.update
  test.echo test.false test.true
`.trim().split(/\s+/),
);

/** Those that read options, of which the id is the minion's. */
const READS_OPTIONS = /^(config|match)\./;

/** Whether the result of a function is the same for the same input. */
export function isPureFunction(name: string): boolean {
  return PURE.has(name);
}

/** Whether it reads the minion's id in the options. */
export function readsOptions(name: string): boolean {
  return READS_OPTIONS.test(name);
}

/** Filters and functions of templates whose result may differ each time. */
const CHANGING =
  "random|random_hash|random_str|rand_str|random_sample|random_shuffle|shuffle|lipsum|now|strftime|date_format|uuid|gen_mac|" +
  "dns_check|http_query|list_files|file_hashsum|is_bin_file|is_text_file|is_empty|which|get_uid|hmac_compute";
const USED = new RegExp(`\\|\\s*(?:${CHANGING})\\b|\\b(?:${CHANGING})\\s*\\(|['"](?:${CHANGING})['"]`);
/** Renderers that depend only on their text and recorded reads. */
const RENDERERS = new Set(["jinja", "yaml", "json", "json5", "toml", "text", "plain", "gpg", "yamlex"]);

/** The reason why the result of a text must not be cached; `undefined` if it may be cached. */
export function changingReason(text: string, renderer: string): string | undefined {
  const renderers = /^#!(?!\/)(.*)/.exec(text)?.[1] ?? renderer;
  const others = renderers.split("|").map((part) => part.trim().split(/\s/, 1)[0]).filter((part) =>
    !RENDERERS.has(part) && !part.split("_").every((name) => RENDERERS.has(name))
  );
  if (others.length > 0) return `the renderer ${others[0]}`;
  const used = USED.exec(text);
  return used === null ? undefined : `the template uses ${used[0].replace(/[^a-z_]/g, "")}`;
}
