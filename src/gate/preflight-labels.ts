import type { Finding } from '../plans/check/finding.js'
import { list, quote } from '../plans/check/finding.js'
import type { Labels } from '../plans/check/jmx-labels.js'
import { suggestWord } from '../values/nearest.js'
import { matchesPattern } from '../thresholds/grammar/pattern.js'
import type { Pattern, Threshold } from '../thresholds/grammar/threshold.js'

const SHOWN = 5
/** A name that a source writes out; one with a number may be put together. */
const PLAIN_NAME = /^[A-Za-z][A-Za-z_ -]*$/
/** Page timings are labels of their own. */
const TIMING = / \[(?:ttfb|dom ready|load|lcp)\]$/

/** Thresholds on labels that no request of the plan has. */
export function checkLabels(thresholds: readonly Threshold[], labels: Labels): Finding[] {
  return thresholds.flatMap(({ text, level, selector: { label } }): Finding[] => {
    if (label === undefined || labels.names.some((name) => mayMatch(label, name))) return []
    const [wanted = '', ...more] = label.pieces
    const isPattern = more.length > 0
    const meant = isPattern ? undefined : suggestWord(wanted, labels.usual)
    const says = `The threshold ${text} has nothing to judge: no request of the plan is called ${quote(label.text)}`
    if (labels.isComplete)
      return [
        {
          level: level === 'warn' ? 'warning' : 'error',
          message: `${says}${meant === undefined ? `; there is ${listSome(labels.usual)}.` : ask(wanted, meant)}`
        }
      ]
    const isTypo = meant !== undefined && PLAIN_NAME.test(wanted) && PLAIN_NAME.test(meant)
    return isTypo && labels.isSource && !TIMING.test(wanted)
      ? [{ level: 'warning', message: `${says}; did you mean ${quote(meant)}?` }]
      : []
  })
}

/** JMeter numbers the rows of a request's redirects and embedded files: `home-0`, `home-1-0`. */
function mayMatch(label: Pattern, name: string): boolean {
  if (label.pieces.length > 1)
    return ['', '-0', '-1', '-0-0'].some((number) => matchesPattern(label, name + number))
  const [wanted = ''] = label.pieces
  return wanted === name || (wanted.startsWith(name) && /^(?:-\d+)+$/.test(wanted.slice(name.length)))
}

/** A name that differs only in spaces looks the same. */
function ask(wanted: string, meant: string): string {
  return wanted.trim() === meant.trim()
    ? `; there is ${JSON.stringify(meant)}, with spaces around it: remove them in the plan, or write them in the threshold too.`
    : `; did you mean ${quote(meant)}?`
}

function listSome(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map(quote)
  return list(names.length > SHOWN ? [...shown, `${names.length - SHOWN} more`] : shown)
}
