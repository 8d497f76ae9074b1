/**
 * YAML as Salt writes it with `--out=yaml`: the bytes of PyYAML's safe dumper over libyaml, in block style.
 *
 * Keys are sorted where Python could sort them, lists lie in the column of their key, text is quoted only where YAML
 * 1.1 would read it as something else, and folded at 80 columns. Python writes an object that occurs twice as an
 * anchor and aliases; here, where values come off a wire, each occurrence is written out.
 * Source: libyaml 0.2.5's emitter (behaviour), PyYAML's representer, salt/utils/yamldumper.py;
 * tests/corpus/yaml_dump.json holds what they wrote.
 * @module
 */

import { compare, Float, floatRepr, isFloat, isInt, type Value, type ValueMap } from "./value.ts";
import { scalarType } from "./yaml_scalar.ts";
import { analyzeText, escapeChar, isBreak, isPrintable, MAX_SIMPLE_KEY, WIDTH } from "./yaml_text.ts";
