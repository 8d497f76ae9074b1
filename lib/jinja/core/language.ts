/**
 * A template language: its syntax, filters, tests and tags. It keeps compiled templates by their text.
 * @module
 */

import type { Run } from "#lib/python/object.ts";
import { compileTemplate, type TemplateCode } from "./compile_template.ts";
import { lex } from "#lib/jinja/syntax/lexer.ts";
import type { TemplateNode } from "#lib/jinja/syntax/nodes.ts";
import { Parser, type Tag } from "#lib/jinja/syntax/parser.ts";
import { DEFAULT_SYNTAX, type SyntaxOptions } from "#lib/jinja/syntax/syntax.ts";

export interface LanguageSetup {
  /** The differences to Jinja's defaults. */
  readonly options?: Partial<SyntaxOptions>;
  readonly filters: ReadonlyMap<string, Run>;
  readonly tests: ReadonlyMap<string, Run>;
  /** Tags in addition to Jinja's. */
  readonly tags?: ReadonlyMap<string, Tag>;
}

/** Limit of the cache of compiled templates, in characters. */
const MAX_CACHED_CHARACTERS = 4_000_000;
/** Limit of the cache, in templates. */
const MAX_CACHED_TEMPLATES = 2_000;

/** The language. Its tables are not to be changed. */
export class Language {
  readonly syntax: SyntaxOptions;
  readonly filters: ReadonlyMap<string, Run>;
  readonly tests: ReadonlyMap<string, Run>;
  readonly #tags: ReadonlyMap<string, Tag>;
  /** The least recently used first. */
  readonly #cache = new Map<string, TemplateCode>();
  #characters = 0;

  constructor(setup: LanguageSetup) {
    this.syntax = { ...DEFAULT_SYNTAX, ...setup.options };
    this.filters = setup.filters;
    this.tests = setup.tests;
    this.#tags = setup.tags ?? new Map();
  }

  /**
   * The tree of a template.
   * @throws {TemplateError} Kind `syntax`.
   */
  parse(text: string): TemplateNode {
    return new Parser(lex(text, this.syntax), this.#tags).parse();
  }

  /**
   * Compiles a template, or takes it from the cache.
   * @throws {TemplateError} Kind `syntax`.
   */
  compile(text: string): TemplateCode {
    const template = this.#cache.get(text);
    if (template !== undefined) {
      this.#cache.delete(text);
      this.#cache.set(text, template);
      return template;
    }
    const code = compileTemplate(this.parse(text), this);
    this.#cache.set(text, code);
    this.#characters += text.length;
    while (this.#characters > MAX_CACHED_CHARACTERS || this.#cache.size > MAX_CACHED_TEMPLATES) {
      const [oldest] = this.#cache.keys();
      this.#cache.delete(oldest);
      this.#characters -= oldest.length;
    }
    return code;
  }
}
