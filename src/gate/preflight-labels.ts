import type { Finding } from '../plans/check/finding.js'
import { list, quote } from '../plans/check/finding.js'
import type { Labels } from '../plans/check/jmx-labels.js'
import { suggestWord } from '../values/nearest.js'
import { matchesPattern } from '../thresholds/grammar/pattern.js'
import type { Threshold } from '../thresholds/grammar/threshold.js'

const SHOWN = 5
/** A name that a source writes out; one with a number may be put together. */
const PLAIN_NAME = /^[A-Za-z][A-Za-z_ -]*$/
/** Page timings are labels of their own. */
const TIMING = / \[(?:ttfb|dom ready|load|lcp)\]$/

/** Thresholds on labels that no request of the plan has. */
export function checkLabels(thresholds: readonly Threshold[], labels: Labels): Finding[] {
  return thresholds.flatMap(({ text, level, selector: { label } }): Finding[] => {
    if (label === undefined || labels.names.some((name) => matchesPattern(label, name))) return []
    const [wanted = '', ...more] = label.pieces
    const isPattern = more.length > 0
    const meant = isPattern ? undefined : suggestWord(wanted, labels.usual)
    const says = `The threshold ${text} has nothing to judge: no request of the plan is called ${quote(label.text)}`
    if (labels.isComplete)
      return [
        {
          level: level === 'warn' ? 'warning' : 'error',
          message: `${says}${meant === undefined ? `; there is ${listSome(labels.usual)}.` : `; did you mean ${quote(meant)}?`}`
        }
      ]
    const isTypo = meant !== undefined && PLAIN_NAME.test(wanted) && PLAIN_NAME.test(meant)
    return isTypo && labels.isSource && !TIMING.test(wanted)
      ? [{ level: 'warning', message: `${says}; did you mean ${quote(meant)}?` }]
      : []
  })
}

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map(quote)
  return list(names.length > SHOWN ? [...shown, `${names.length - SHOWN} more`] : shown)
}
