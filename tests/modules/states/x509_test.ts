/**
 * The state module `x509`, compared with Python Salt: tests/corpus/state_situations/x509.json, made by
 * make_state_situations.py.
 */

import { testSituations } from "#tests/support/calls/state_situations.ts";

testSituations(["x509"]);
