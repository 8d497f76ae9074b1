/**
 * Finds the collections of a YAML text that are open at a place: libyaml names them as context of an error there. Only
 * for error messages: reads only brackets, indentation and quotes.
 * @module
 */

/** A collection that has begun and not ended. */
export interface OpenCollection {
  readonly kind: "flow mapping" | "flow sequence" | "block mapping" | "block sequence";
  /** Offset of its beginning. */
  readonly start: number;
  /** Column of that, from 0. */
  readonly column: number;
}

/** The collections around `offset`, outermost first. */
export function openCollections(text: string, offset: number): OpenCollection[] {
  return new Scan(text, offset).run();
}

/** Where the last scalar with quotes, or block scalar, began before `offset`. */
export function lastScalarStart(text: string, offset: number): number {
  const scan = new Scan(text, offset);
  scan.run();
  return scan.scalarStart;
}

class Scan {
  /** Where the last scalar with quotes, or block scalar, began. */
  scalarStart = 0;
  readonly #text: string;
  readonly #end: number;
  readonly #open: OpenCollection[] = [];
  #at = 0;
  #lineStart = 0;

  constructor(text: string, end: number) {
    this.#text = text;
    this.#end = end;
  }

  run(): OpenCollection[] {
    while (this.#at < this.#end) {
      if (this.#inFlow) this.#flow();
      else if (this.#atLineStart()) this.#indentation();
      else this.#block();
    }
    // A token in a lower column ends block collections before it is refused.
    const column = this.#end - this.#text.lastIndexOf("\n", this.#end - 1) - 1;
    if (!this.#inFlow) this.#close(column);
    return this.#open;
  }

  get #inFlow(): boolean {
    return this.#open.at(-1)?.kind.startsWith("flow") ?? false;
  }

  #atLineStart(): boolean {
    return this.#at === this.#lineStart;
  }

  #newLine(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#end : end + 1;
    this.#lineStart = this.#at;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const skipped = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += skipped.length;
    return skipped;
  }

  #push(kind: OpenCollection["kind"], start: number): void {
    this.#open.push({ kind, start, column: start - this.#lineStart });
  }

  /** Ends the block collections that are deeper than `column`. */
  #close(column: number): void {
    while (this.#open.length > 0 && this.#open[this.#open.length - 1].column > column) this.#open.pop();
  }

  #indentation(): void {
    const column = this.#skip(/ */y).length;
    if (/[\r\n#]/.test(this.#text[this.#at] ?? "\n")) return this.#newLine();
    if (column === 0 && /^(---|\.\.\.)(?!\S)/.test(this.#text.slice(this.#at, this.#at + 4))) {
      this.#at += 3;
      this.#open.length = 0;
      return;
    }
    this.#close(column);
    if (this.#at < this.#end) this.#token();
  }

  #block(): void {
    this.#skip(/[ \t]+/y);
    if (this.#at >= this.#end) return;
    if (/[\r\n#]/.test(this.#text[this.#at] ?? "\n")) this.#newLine();
    else this.#token();
  }

  /** One token of block context, at its first character. */
  #token(): void {
    const start = this.#at;
    const indicator = this.#skip(/[-?](?=\s|$)/y);
    const top = this.#open.at(-1);
    const column = start - this.#lineStart;
    if (indicator !== "") {
      // For libyaml, a sequence in the column of its key is not a collection of its own.
      if (top === undefined || top.column < column) {
        this.#push(indicator === "-" ? "block sequence" : "block mapping", start);
      }
      return;
    }
    this.#skip(/(?:[&!]\S*[ \t]+)*/y);
    const [first] = this.#text.slice(this.#at, this.#at + 1);
    if (first === "|" || first === ">") return this.#blockScalar();
    if (first === "{" || first === "[") return this.#enter(first);
    if (first === '"' || first === "'") {
      this.#quoted(first);
      this.#keyWithMore(start);
    } else if (this.#skip(/:(?=\s|$)/y) === "") this.#skip(/(?:[^\s:#]|:(?!\s|$)|[ \t]+(?![\s#])|(?<=\S)#)+/y);
    this.#key(start);
    if (this.#at === start) this.#at++;
  }

  /** If a colon follows, the text from `start` is a key. */
  #key(start: number): void {
    if (this.#skip(/[ \t]*:(?=\s|$)/y) === "") return;
    this.#pushMapping(start);
  }

  #pushMapping(start: number): void {
    const column = start - (this.#text.lastIndexOf("\n", start - 1) + 1);
    const top = this.#open.at(-1);
    if (top === undefined || top.column < column) this.#open.push({ kind: "block mapping", start, column });
  }

  /**
   * A scalar with quotes is taken for a key if there is a colon later in its line: libyaml detects only at the colon
   * that there is other text between.
   */
  #keyWithMore(start: number): void {
    const [rest] = this.#text.slice(this.#at).split("\n", 1);
    const before = this.#text.slice(this.#text.lastIndexOf("\n", start - 1) + 1, start);
    // Behind a colon no key may begin.
    if (!/^[\s?-]*$/.test(before)) return;
    if (!/^[ \t]*:(\s|$)/.test(rest) && /^[^#]*:(\s|$)/.test(rest)) this.#pushMapping(start);
  }

  #blockScalar(): void {
    this.scalarStart = this.#at;
    const around = this.#open.at(-1)?.column ?? -1;
    this.#newLine();
    while (this.#at < this.#end) {
      const [spaces] = /^ */.exec(this.#text.slice(this.#at)) ?? [""];
      const blank = /[\r\n]/.test(this.#text[this.#at + spaces.length] ?? "\n");
      if (!blank && spaces.length <= around) return;
      this.#newLine();
    }
  }

  #quoted(quote: string): void {
    this.scalarStart = this.#at;
    this.#skip(quote === '"' ? /"(?:[^"\\]|\\[^])*"?/y : /'(?:[^']|'')*'?/y);
    this.#findLine();
  }

  #findLine(): void {
    this.#lineStart = this.#text.lastIndexOf("\n", this.#at - 1) + 1;
  }

  #enter(bracket: string): void {
    this.#push(bracket === "{" ? "flow mapping" : "flow sequence", this.#at);
    this.#at++;
  }

  #flow(): void {
    const [char] = this.#text.slice(this.#at, this.#at + 1);
    if (char === "{" || char === "[") return this.#enter(char);
    if (char === "}" || char === "]") {
      const closed = this.#open.pop();
      this.#at++;
      if (!this.#inFlow && closed !== undefined) this.#key(closed.start);
      return;
    }
    // A quote in a plain scalar is a part of it.
    const before = /[\w.)/-]$/.test(this.#text.slice(Math.max(0, this.#at - 1), this.#at));
    if ((char === '"' || char === "'") && !before) return this.#quoted(char);
    if (this.#skip(/(?<=\s)#[^\n]*/y) === "") this.#at++;
    this.#findLine();
  }
}
