import type { Run } from '../../service/documents/documents.js'
import type { Settings } from '../settings/settings.js'

/** Longer ones are useless, and would fill the output, the summary and the comment. */
const LONGEST_URL = 2_048

/** The run's web page. The embedded service ends with the step, so its runs have none; an invalid URL counts as none. */
export function runUrl({ target }: Settings, { permalink }: Run): string | undefined {
  if (target.kind === 'local' || permalink === undefined || !URL.canParse(permalink)) return undefined
  const url = new URL(permalink)
  return ['https:', 'http:'].includes(url.protocol) && url.href.length <= LONGEST_URL ? url.href : undefined
}
