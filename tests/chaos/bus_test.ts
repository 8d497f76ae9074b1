/** @module */
import { stuckSubscriber } from "./faults/stuck_subscriber.ts";
import { chaosTest } from "./short_form.ts";

chaosTest(stuckSubscriber);
