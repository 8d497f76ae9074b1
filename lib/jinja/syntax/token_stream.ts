/**
 * The tokens in the order in which the parser reads them.
 * @module
 */

import { repr } from "#lib/values/value.ts";
import { syntaxError } from "./errors.ts";
import type { Lexed } from "./lexer.ts";
import { describeExpected, describeToken, isToken, type TemplateToken } from "./tokens.ts";

/** A place in the tokens. */
export class TokenStream {
  readonly #lexed: Lexed;
  #at = 0;
  #current: TemplateToken;

  constructor(lexed: Lexed) {
    this.#lexed = lexed;
    this.#current = this.#tokenAt(0);
  }

  /** The token that is read next. */
  get current(): TemplateToken {
    return this.#current;
  }

  /**
   * Moves to the next token.
   * @returns The token that was current.
   * @throws {TemplateError} The error that stopped the lexer there.
   */
  next(): TemplateToken {
    const token = this.#current;
    if (token.type !== "eof") this.#current = this.#tokenAt(++this.#at);
    return token;
  }

  #tokenAt(at: number): TemplateToken {
    const { tokens, failure } = this.#lexed;
    if (at < tokens.length) return tokens[at];
    if (failure !== undefined) throw failure;
    const last = tokens[tokens.length - 1];
    return { type: "eof", value: "", line: last?.line ?? 1, column: last?.column ?? 1 };
  }

  /** The token after the current one. */
  look(): TemplateToken {
    return this.#current.type === "eof" ? this.#current : this.#tokenAt(this.#at + 1);
  }

  /** Whether the current token is the expected one: a type, or `name:endif`. */
  test(expected: string): boolean {
    return isToken(this.#current, expected);
  }

  /** Skips the expected token if it is the current one. */
  skipIf(expected: string): boolean {
    if (!this.test(expected)) return false;
    this.next();
    return true;
  }

  /**
   * Skips the expected token.
   * @throws {TemplateError} If another one is current.
   */
  expect(expected: string): TemplateToken {
    if (this.test(expected)) return this.next();
    const wanted = repr(describeExpected(expected));
    throw syntaxError(
      this.#current.type === "eof"
        ? `unexpected end of template, expected ${wanted}.`
        : `expected token ${wanted}, got ${repr(describeToken(this.#current))}`,
      this.#current,
    );
  }
}
