/**
 * What a terminal may be told: Salt's colours, when to use them, and the rule that nobody else's text steers it.
 *
 * A minion's answer, an id read from disk, a line of a log: whatever others wrote passes {@linkcode sanitize} before it is
 * shown. Knows nothing of outputters. Source: Salt's colour names; ECMA-48 (control functions, SGR);
 * no-color.org (the environment variable `NO_COLOR`).
 * @module
 */

/** Salt's name of a colour; `ENDC` switches colour off. */
export type ColourName =
  | "RED"
  | "LIGHT_RED"
  | "GREEN"
  | "LIGHT_GREEN"
  | "YELLOW"
  | "LIGHT_YELLOW"
  | "BLUE"
  | "LIGHT_BLUE"
  | "MAGENTA"
  | "LIGHT_MAGENTA"
  | "CYAN"
  | "LIGHT_CYAN"
  | "ENDC";

/** The escape sequence of each colour, or the empty string where colour is off. */
export type Colours = Readonly<Record<ColourName, string>>;

/** The colours to print with: Salt's if `on`, else empty strings. */
export function colours(on: boolean): Colours {
  // The numbers of ECMA-48's SGR; every colour starts from a reset.
  const sgr = (numbers: string) => on ? `\x1b[${numbers}m` : "";
  return {
    RED: sgr("0;31"),
    LIGHT_RED: sgr("0;1;31"),
    GREEN: sgr("0;32"),
    LIGHT_GREEN: sgr("0;1;32"),
    YELLOW: sgr("0;33"),
    LIGHT_YELLOW: sgr("0;1;33"),
    BLUE: sgr("0;34"),
    LIGHT_BLUE: sgr("0;1;34"),
    MAGENTA: sgr("0;35"),
    LIGHT_MAGENTA: sgr("0;1;35"),
    CYAN: sgr("0;36"),
    LIGHT_CYAN: sgr("0;1;36"),
    ENDC: sgr("0;0"),
  };
}

/** What decides whether output is coloured. */
export interface ColourFacts {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** `--force-color`: wins over everything. */
  readonly forceColor?: boolean;
  readonly noColor?: boolean;
  /** The environment variable `NO_COLOR`; any value but the empty one switches colours off. */
  readonly noColorVariable?: string;
  /** The option `color` of the configuration; only `false` changes anything. */
  readonly configured?: boolean;
}

/** Whether to print in colour: on a terminal, unless the user said otherwise. */
export function useColours(facts: ColourFacts): boolean {
  if (facts.forceColor) return true;
  if (facts.noColor || facts.noColorVariable) return false;
  return facts.isTerminal && facts.configured !== false;
}

// Everything that a terminal obeys instead of showing: C0 but for tab and newline, DEL, C1 (U+009B is a one-character
// "ESC ["), and the overrides that make a text read in another order than it is written. Built from a string, because a
// regular expression literal with control characters is refused by the linter.
const DANGEROUS = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069";
const CONTROLS = new RegExp(`[${DANGEROUS}]`, "g");
const CONTROLS_AND_NEWLINE = new RegExp(`[${DANGEROUS}\\n]`, "g");

function visible(char: string): string {
  const code = char.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/**
 * `text` with every control character but newline and tab made visible: an ESC becomes the four characters `\x1b`.
 * Text without such characters comes back as it is.
 */
export function sanitize(text: string): string {
  return text.replace(CONTROLS, visible);
}

/** Like {@linkcode sanitize}, for text that must stay on one line (ids, keys): newlines become visible too. */
export function sanitizeLine(text: string): string {
  return text.replace(CONTROLS_AND_NEWLINE, visible);
}

/** `json` with the control characters that JSON may hold raw (DEL, C1, bidirectional overrides) as `\u` escapes. */
export function sanitizeJson(json: string): string {
  // A newline outside a string is layout; C0 inside a string is escaped by every writer of JSON.
  return json.replace(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
