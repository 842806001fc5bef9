import TestSequencer from '@jest/test-sequencer'

/** Files of tests that start processes and wait for them, for seconds and more. */
const WAITS = /\/__tests__\/(browser|e2e|faults|kubernetes|tools)\//

/**
 * The files in jest's order (the longest first, as far as it knows; else the largest), but each that waits beside one that works. In a
 * fresh clone the largest files are those that work, and a small one that waits for a minute would be left for the end, alone.
 */
export default class MixedOrder extends TestSequencer {
  sort(tests) {
    const sorted = super.sort(tests)
    const waiting = sorted.filter(({ path }) => WAITS.test(path))
    const working = sorted.filter(({ path }) => !WAITS.test(path))
    const rest = working.splice(waiting.length)
    return [...waiting.flatMap((test, index) => [test, ...working.slice(index, index + 1)]), ...rest]
  }
}
