import type { Run } from '../service/documents.js'
import type { Settings } from './settings.js'

/** The run's web page. The embedded service's ends with the step, so it has none; an odd address is none either. */
export function runUrl({ target }: Settings, { permalink }: Run): string | undefined {
  if (target.kind === 'local' || permalink === undefined || !URL.canParse(permalink)) return undefined
  const url = new URL(permalink)
  return ['https:', 'http:'].includes(url.protocol) ? url.href : undefined
}
