/**
 * Text for terminals: Salt's colours, when to use them, and the protection against control characters. Text from others
 * (a minion's answer, an id read from disk, a log line) passes {@linkcode sanitize} before it is shown. Knows nothing
 * of outputters.
 * Source: Salt's colour names; ECMA-48 (control functions, SGR); no-color.org (the environment variable `NO_COLOR`).
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
  | "DARK_GRAY"
  | "LIGHT_GRAY"
  | "WHITE"
  | "ENDC";

/** The escape sequence of each colour; empty strings if colour is off. */
export type Colours = Readonly<Record<ColourName, string>>;

/** Salt's colours if `on`, else empty strings. */
export function colours(on: boolean): Colours {
  // Numbers of ECMA-48's SGR; each colour starts with a reset.
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
    DARK_GRAY: sgr("0;1;30"),
    LIGHT_GRAY: sgr("0;37"),
    WHITE: sgr("0;1;37"),
    ENDC: sgr("0;0"),
  };
}

/** The facts that decide whether output is coloured. */
export interface ColourFacts {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** `--force-color`: overrides everything else. */
  readonly forceColor?: boolean;
  readonly noColor?: boolean;
  /** The environment variable `NO_COLOR`; any non-empty value switches colours off. */
  readonly noColorVariable?: string;
  /** The option `color` of the configuration; `false` switches colours off. */
  readonly configured?: boolean;
}

/** Whether to print in colour: on a terminal, unless the user said otherwise. */
export function useColours(facts: ColourFacts): boolean {
  if (facts.forceColor) return true;
  if (facts.noColor || facts.noColorVariable) return false;
  return facts.isTerminal && facts.configured !== false;
}

// Characters that a terminal interprets instead of showing: C0 except tab and newline, DEL, C1 (U+009B is a
// one-character "ESC ["), and the overrides that change the direction of text. Built from a string, because the linter
// refuses control characters in a regular expression literal.
const DANGEROUS = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069";
const CONTROLS = new RegExp(`[${DANGEROUS}]`, "g");
const CONTROLS_AND_NEWLINE = new RegExp(`[${DANGEROUS}\\n]`, "g");

function visible(char: string): string {
  const code = char.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Makes every control character but newline and tab visible: an ESC becomes the four characters `\x1b`. */
export function sanitize(text: string): string {
  return text.replace(CONTROLS, (char) => visible(char));
}

/** Like {@linkcode sanitize}, for text that must stay on one line (ids, keys): newlines become visible too. */
export function sanitizeLine(text: string): string {
  return text.replace(CONTROLS_AND_NEWLINE, (char) => visible(char));
}

/** Escapes the control characters that JSON may contain unescaped (DEL, C1, bidirectional overrides) as `\u`. */
export function sanitizeJson(json: string): string {
  // A newline outside a string is layout; inside a string every JSON writer escapes C0.
  return json.replace(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
