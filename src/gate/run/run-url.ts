import type { Run } from '../../service/documents/documents.js'
import type { Settings } from '../settings/settings.js'

/** Longer ones are of no use to anybody, and would fill the output, the summary and the comment. */
const LONGEST_URL = 2_048

/** The run's web page. The embedded service's ends with the step, so it has none; an odd address is none either. */
export function runUrl({ target }: Settings, { permalink }: Run): string | undefined {
  if (target.kind === 'local' || permalink === undefined || !URL.canParse(permalink)) return undefined
  const url = new URL(permalink)
  return ['https:', 'http:'].includes(url.protocol) && url.href.length <= LONGEST_URL ? url.href : undefined
}
