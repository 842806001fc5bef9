import type { Outcome } from './outcome.js'

/** What to do about an outcome whose reason alone does not say it; undefined if it does, or nobody knows. */
export function adviceFor({ verdict, measurements, run }: Outcome): string | undefined {
  const { errorRate } = measurements?.figures({}) ?? {}
  if (verdict !== 'passed' && errorRate !== undefined && errorRate > 0.5)
    return 'Most samples failed: check that the target is running and that the plan has its address. `--wait-for URL` starts the load only once the target answers.'
  if (verdict === 'timed-out' && errorRate !== undefined && run !== undefined)
    return 'The load was still running: raise --timeout if it needs longer. If the plan has no end of its own, have it read --duration, in JMeter as ${__P(duration,60)}.'
  return undefined
}
