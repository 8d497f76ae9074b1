/**
 * Salt's language of templates: Jinja's with Salt's filters, tests and tags. One for each set of syntax options, so
 * that templates stay compiled.
 * @module
 */

import { JINJA_FILTERS } from "#lib/jinja/core/filters.ts";
import { JINJA_TESTS } from "#lib/jinja/core/tests.ts";
import { Language } from "#lib/jinja/core/language.ts";
import type { SyntaxOptions } from "#lib/jinja/syntax/syntax.ts";
import { isEqual } from "#lib/python/equality.ts";
import { native } from "#lib/python/native.ts";
import type { Run } from "#lib/python/object.ts";
import { DICT_FILTERS } from "#lib/jinja/filters/dict.ts";
import { HASH_FILTERS } from "#lib/jinja/filters/hash.ts";
import { HOST_FILTERS } from "#lib/jinja/filters/host.ts";
import { ITERATOR_FILTERS } from "#lib/jinja/filters/iterator.ts";
import { LIST_FILTERS, listTest } from "#lib/jinja/filters/list.ts";
import { NETWORK_FILTERS } from "#lib/jinja/filters/network.ts";
import { SERIALIZER_FILTERS } from "#lib/jinja/filters/serializer.ts";
import { SERIALIZER_TAGS } from "./serializer_tags.ts";
import { matchTest, SALT_TEXT_FILTERS } from "#lib/jinja/filters/text.ts";
import { YAML_TEXT_FILTERS } from "#lib/jinja/filters/yaml_text.ts";

/** All filters of templates; Salt's replace Jinja's of the same name. */
export const FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ...JINJA_FILTERS,
  ...SALT_TEXT_FILTERS,
  ...LIST_FILTERS,
  ...DICT_FILTERS,
  ...HASH_FILTERS,
  ...HOST_FILTERS,
  ...NETWORK_FILTERS,
  ...SERIALIZER_FILTERS,
  ...ITERATOR_FILTERS,
  ...YAML_TEXT_FILTERS,
]);

/** All tests of templates. */
export const TESTS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ...JINJA_TESTS,
  ["match", matchTest],
  ["equalto", native("test_equalto", ["value", "other"], ([value, other]) => isEqual(value, other))],
  ["list", listTest],
]);

/** Maximum number of cached sets of options: a tree has few. */
const MAX_LANGUAGES = 8;

const languages = new Map<string, Language>();

/** The language with these options. */
export function saltLanguage(options: Partial<SyntaxOptions>): Language {
  const key = JSON.stringify(Object.entries(options).sort());
  let language = languages.get(key);
  if (language === undefined) {
    if (languages.size >= MAX_LANGUAGES) languages.clear();
    language = new Language({ options, filters: FILTERS, tests: TESTS, tags: SERIALIZER_TAGS });
    languages.set(key, language);
  }
  return language;
}
