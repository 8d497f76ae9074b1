/**
 * The first bytes of a value as text: a text as it is, anything else as JSON. The cost depends on the number of bytes
 * wanted, not on the size of the value.
 * @module
 */

import { isMap, repr, type Value } from "./value.ts";

/** The first `max` bytes (UTF-8) of a value's text; a few bytes less where a character would be cut. */
export function beginningOf(value: Value, max: number): string {
  if (typeof value === "string") return cut(value, max);
  const beginning = new Beginning(max);
  beginning.add(value);
  return cut(beginning.text, max);
}

/** Collects text until there is enough. Each character counts as at least one byte. */
class Beginning {
  text = "";
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(value: Value): void {
    const room = this.#max - this.text.length;
    if (room <= 0) return;
    if (typeof value === "string") this.text += JSON.stringify(value.slice(0, room));
    else if (value instanceof Uint8Array) this.add(new TextDecoder().decode(value.subarray(0, room)));
    else if (Array.isArray(value)) this.#list("[", value, "]", (item) => this.add(item));
    else if (isMap(value)) {
      this.#list("{", value, "}", ([key, item]) => {
        this.add(key);
        this.text += ": ";
        this.add(item);
      });
    } else if (value === null || typeof value === "boolean") this.text += String(value);
    else this.text += repr(value);
  }

  #list<Item>(open: string, items: Iterable<Item>, close: string, add: (item: Item) => void): void {
    this.text += open;
    let first = true;
    for (const item of items) {
      if (this.text.length >= this.#max) return;
      if (!first) this.text += ", ";
      first = false;
      add(item);
    }
    this.text += close;
  }
}

function cut(text: string, max: number): string {
  const bytes = new Uint8Array(max);
  const { written } = new TextEncoder().encodeInto(text.slice(0, max), bytes);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, written));
}
